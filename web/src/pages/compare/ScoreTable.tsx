import { Table } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { range, score } from "../../ui/numbers";
import { Stars } from "../../ui/Stars";
import { overallOf } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";

/** The scores of the agents, component by component. */
export function ScoreTable({ comparison }: { comparison: Schemas["Comparison"] }) {
  if (comparison.comparison.length === 0) return null;
  return (
    <WideTable isCards label="Scores" minWidth={720}>
      <Head>
        <Table.Th role="columnheader">Agent</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Overall
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Interval
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Benchmark
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Success
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Cost efficiency
        </Table.Th>
        <Table.Th role="columnheader">Rating</Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {comparison.comparison.map((entry) => (
          <Table.Tr role="row" key={`${entry.agent_id}:${entry.agent_version}`}>
            <Cell place="title">
              <Link href={`/agents/${encodeURIComponent(entry.agent_id)}`}>
                <Untrusted text={entry.agent_id} />
              </Link>{" "}
              <Untrusted text={entry.agent_version} />
            </Cell>
            <Cell place="score" ta="right" fw={600}>
              {score(overallOf(entry))}
            </Cell>
            <Cell label="Interval" ta="right">
              {overallOf(entry) === null ? "–" : range(entry.intervals.overall)}
            </Cell>
            <Cell label="Benchmark" ta="right">
              {entry.benchmark_run_id ? (
                <Link href={`/runs/${entry.benchmark_run_id}`}>{score(entry.benchmark_score)}</Link>
              ) : (
                "–"
              )}
            </Cell>
            <Cell label="Success" ta="right">
              {score(entry.success_rate_score)}
            </Cell>
            <Cell label="Cost efficiency" ta="right">
              {score(entry.cost_efficiency_score)}
            </Cell>
            <Cell label="Rating">
              <Stars value={entry.avg_user_rating} votes={entry.feedback_count} />
            </Cell>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

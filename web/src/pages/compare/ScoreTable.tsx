import { Table } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { range, score } from "../../ui/numbers";
import { Stars } from "../../ui/Stars";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

/** The scores of the agents, component by component. */
export function ScoreTable({ comparison }: { comparison: Schemas["Comparison"] }) {
  if (comparison.comparison.length === 0) return null;
  return (
    <WideTable label="Scores" minWidth={720}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Agent</Table.Th>
          <Table.Th ta="right">Overall</Table.Th>
          <Table.Th ta="right">Interval</Table.Th>
          <Table.Th ta="right">Benchmark</Table.Th>
          <Table.Th ta="right">Success</Table.Th>
          <Table.Th ta="right">Cost efficiency</Table.Th>
          <Table.Th>Rating</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {comparison.comparison.map((entry) => (
          <Table.Tr key={`${entry.agent_id}:${entry.agent_version}`}>
            <Table.Td>
              <Link href={`/agents/${encodeURIComponent(entry.agent_id)}`}>
                <Untrusted text={entry.agent_id} />
              </Link>{" "}
              <Untrusted text={entry.agent_version} />
            </Table.Td>
            <Table.Td ta="right" fw={600}>
              {score(entry.overall_score)}
            </Table.Td>
            <Table.Td ta="right">{range(entry.intervals.overall)}</Table.Td>
            <Table.Td ta="right">
              {entry.benchmark_run_id ? (
                <Link href={`/runs/${entry.benchmark_run_id}`}>{score(entry.benchmark_score)}</Link>
              ) : (
                "–"
              )}
            </Table.Td>
            <Table.Td ta="right">{score(entry.success_rate_score)}</Table.Td>
            <Table.Td ta="right">{score(entry.cost_efficiency_score)}</Table.Td>
            <Table.Td>
              <Stars value={entry.avg_user_rating} votes={entry.feedback_count} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

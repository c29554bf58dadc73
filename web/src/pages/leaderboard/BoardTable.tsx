import { Badge, Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { count, percent, range, score } from "../../ui/numbers";
import { Stars } from "../../ui/Stars";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import classes from "./BoardTable.module.css";
import { Rank } from "./Rank";

type Entry = Schemas["BoardEntry"];

/** The leaderboard as a table; every number links to its data. */
export function BoardTable({ entries }: { entries: Entry[] }) {
  const shared = new Set(
    entries.map((entry) => entry.rank).filter((rank, index, all) => all.indexOf(rank) !== index),
  );
  return (
    <WideTable isCards label="Leaderboard" minWidth={1060}>
      <Head>
        <Table.Th role="columnheader">Rank</Table.Th>
        <Table.Th role="columnheader">Agent</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Overall
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Benchmark
        </Table.Th>
        <Table.Th role="columnheader">User rating</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Success rate
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Cost efficiency
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Executions
        </Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {entries.map((entry) => (
          <BoardRow
            key={`${entry.agent_id}:${entry.agent_version}`}
            entry={entry}
            isShared={shared.has(entry.rank)}
          />
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

function BoardRow({ entry, isShared }: { entry: Entry; isShared: boolean }) {
  const { intervals } = entry;
  const agent = `/agents/${encodeURIComponent(entry.agent_id)}`;
  return (
    <Table.Tr role="row">
      <Cell place="beside">
        <Rank rank={entry.rank} low={entry.rank_low} high={entry.rank_high} isShared={isShared} />
      </Cell>
      <Cell place="title">
        <Link href={agent} className={classes.agent}>
          <Untrusted text={entry.agent_id} />
        </Link>{" "}
        <Text span size="sm" c="dimmed">
          <Untrusted text={entry.agent_version} />
        </Text>
        {entry.provisional && (
          <Badge
            ml="xs"
            size="sm"
            variant="outline"
            color="gray"
            tt="none"
            className={classes.provisional}
            title={`Based on ${percent(entry.coverage * 100)} of the weight so far`}
          >
            provisional
          </Badge>
        )}
      </Cell>
      <Cell place="score" ta="right">
        <strong>{score(entry.overall_score)}</strong>
        <Note>{range(intervals.overall)}</Note>
      </Cell>
      <Cell label="Benchmark" ta="right">
        {entry.benchmark_run_id ? (
          <Link href={`/runs/${entry.benchmark_run_id}`}>{score(entry.benchmark_score)}</Link>
        ) : (
          score(entry.benchmark_score)
        )}
        <Note>{range(intervals.benchmark)}</Note>
      </Cell>
      <Cell label="User rating">
        {entry.feedback_count > 0 ? (
          <Link href={`${agent}#feedback`} className={classes.stars}>
            <Stars value={entry.avg_user_rating} votes={entry.feedback_count} />
          </Link>
        ) : (
          <Stars value={null} />
        )}
        {entry.feedback_count > 0 && <Note>{range(intervals.user_rating)}</Note>}
      </Cell>
      <Cell label="Success rate" ta="right">
        {percent(entry.success_rate_score)}
        <Note>{range(intervals.success_rate)}</Note>
      </Cell>
      <Cell label="Cost efficiency" ta="right">
        {score(entry.cost_efficiency_score)}
        <Note>{range(intervals.cost_efficiency)}</Note>
      </Cell>
      <Cell label="Executions" ta="right">
        {count(entry.execution_count)}
      </Cell>
    </Table.Tr>
  );
}

function Note({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed" className={classes.note}>
      {children}
    </Text>
  );
}

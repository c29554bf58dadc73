import { Progress, Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { useProgress } from "../../app/live";
import { Bar } from "../../ui/Bar";
import { count, percent } from "../../ui/numbers";
import { stateOf } from "../../ui/runState";
import { StatusBadge } from "../../ui/StatusBadge";
import { versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import classes from "./RunTable.module.css";

/** Runs as a table; each row links to its results. */
export function RunTable({ runs }: { runs: Schemas["Run"][] }) {
  return (
    <WideTable isCards label="Benchmark runs" minWidth={820}>
      <Head>
        <Table.Th role="columnheader">Agent</Table.Th>
        <Table.Th role="columnheader">Status</Table.Th>
        <Table.Th role="columnheader">Suite</Table.Th>
        <Table.Th role="columnheader">Tests</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Score
        </Table.Th>
        <Table.Th role="columnheader">Date</Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {runs.map((run) => (
          <RunRow key={run.id} run={run} />
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

function RunRow({ run }: { run: Schemas["Run"] }) {
  const live = useProgress(run.id);
  // During a run the stream is ahead of the list; after a refetch the list may be newer.
  const isAhead = live !== undefined && live.completed >= run.completed_tests;
  const state = stateOf(isAhead ? live : run);
  const completed = isAhead ? live.completed : run.completed_tests;
  const passed = isAhead ? live.passed : run.passed_tests;
  return (
    <Table.Tr role="row">
      <Cell place="title">
        <Link href={`/runs/${run.id}`} className={classes.agent}>
          <Untrusted text={run.agent_id} />
        </Link>{" "}
        <Text span size="sm" c="dimmed">
          {run.agent_version}
          {!run.is_full && " · partial run"}
          {run.provenance === "reported" && " · reported"}
          {run.is_archived && " · archived"}
        </Text>
      </Cell>
      <Cell place="beside">
        <StatusBadge state={state} />
      </Cell>
      <Cell label="Suite">
        <Suite run={run} />
      </Cell>
      <Cell label="Tests" miw={190}>
        {state === "running" ? (
          <>
            <Text size="sm">
              {count(completed)} of {count(run.total_tests)}, {count(passed)} passed
            </Text>
            <Progress
              value={(completed / run.total_tests) * 100}
              size="sm"
              aria-label={`Progress of ${run.agent_id}: ${completed} of ${run.total_tests}`}
            />
          </>
        ) : (
          <>
            <Text size="sm">
              {count(passed)}/{count(run.total_tests)} passed
              {run.errored_tests > 0 && `, ${count(run.errored_tests)} not executed`}
            </Text>
            <Bar passed={passed} failed={run.failed_tests} total={run.total_tests} />
          </>
        )}
      </Cell>
      <Cell place="score" ta="right" fw={600}>
        {percent(run.score_percent)}
      </Cell>
      <Cell label="Date" className={classes.date}>
        <When at={run.created_at} />
      </Cell>
    </Table.Tr>
  );
}

function Suite({ run }: { run: Schemas["Run"] }) {
  if (!run.suite) return <>–</>;
  return (
    <span>
      <Untrusted text={run.suite} />{" "}
      {run.suite_version && (
        <Text span size="xs" c="dimmed">
          {versionName(run.suite_version)}
        </Text>
      )}
    </span>
  );
}

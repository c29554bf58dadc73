import { Progress, Table, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Label } from "../../ui/Label";
import { count, score } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { RunLink } from "./RunLink";
import { Section } from "./Section";

type QueuedRun = Schemas["QueuedRun"];

/** The runs that workers execute, and how far each is. */
export function RunTable({ runs }: { runs: QueuedRun[] }) {
  return (
    <Section title="Runs in the queue">
      {runs.length === 0 ? (
        <Text c="dimmed">No run is in the queue.</Text>
      ) : (
        <WideTable isCards label="Runs in the queue" minWidth={820}>
          <Head>
            <Table.Th role="columnheader">Agent</Table.Th>
            <Table.Th role="columnheader">Team</Table.Th>
            <Table.Th role="columnheader">Shards</Table.Th>
            <Table.Th role="columnheader" ta="right">
              In work
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Queued
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Results per second
            </Table.Th>
            <Table.Th role="columnheader">Started</Table.Th>
          </Head>
          <Table.Tbody role="rowgroup">
            {runs.map((run) => (
              <RunRow key={run.run_id} run={run} />
            ))}
          </Table.Tbody>
        </WideTable>
      )}
    </Section>
  );
}

function RunRow({ run }: { run: QueuedRun }) {
  const { done_shards: done, total_shards: total } = run;
  return (
    <Table.Tr role="row">
      <Cell place="title">
        <RunLink runId={run.run_id} team={run.team_id} agent={run.agent_id} />{" "}
        <Text span size="sm" c="dimmed">
          <Untrusted text={run.agent_version} />
        </Text>{" "}
        {run.is_ending && <Label tone="warn">ending</Label>}
      </Cell>
      <Cell label="Team">
        <Untrusted text={run.team_id} />
      </Cell>
      <Cell label="Shards" miw={170}>
        <span style={{ flex: 1 }}>
          <Text size="sm">
            {count(done)} of {count(total)} done; {count(run.completed_tests)} of{" "}
            {count(run.total_tests)} results
          </Text>
          <Progress
            value={total ? (done / total) * 100 : 0}
            size="sm"
            aria-label={`Progress of ${run.agent_id}: ${done} of ${total} shards`}
          />
        </span>
      </Cell>
      <Cell label="In work" ta="right">
        {count(run.in_work)}
      </Cell>
      <Cell label="Queued" ta="right">
        {count(run.depth)}
      </Cell>
      <Cell label="Results per second" ta="right">
        {score(run.results_per_second)}
      </Cell>
      <Cell label="Started">
        <When at={run.started_at} />
      </Cell>
    </Table.Tr>
  );
}

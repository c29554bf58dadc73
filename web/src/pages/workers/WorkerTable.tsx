import { Select, Table, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Label, type Tone } from "../../ui/Label";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { useFilters } from "../../ui/useFilters";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { Section } from "./Section";

type Worker = Schemas["Worker"];

const TONES: Record<Worker["state"], Tone> = {
  working: "busy",
  idle: "good",
  stopping: "warn",
  silent: "bad",
};
const STATES = Object.keys(TONES) as Worker["state"][];

/** The workers: what each can do, and what it does. */
export function WorkerTable({ workers }: { workers: Worker[] }) {
  const [search, choose] = useFilters();
  const state = STATES.find((one) => one === search.get("state"));
  const shown = workers.filter((one) => !state || one.state === state);
  const filter = (
    <Select
      label="State"
      placeholder="Any state"
      size="xs"
      clearable
      clearButtonProps={{ "aria-label": "Any state" }}
      data={STATES}
      value={state ?? null}
      onChange={(value) => choose({ state: value })}
    />
  );
  return (
    <Section title="Workers" aside={filter}>
      {shown.length === 0 ? (
        <Text c="dimmed">No worker is in this state.</Text>
      ) : (
        <WideTable isCards label="Workers" minWidth={900}>
          <Head>
            <Table.Th role="columnheader">Worker</Table.Th>
            <Table.Th role="columnheader">State</Table.Th>
            <Table.Th role="columnheader" ta="right">
              Busy
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Questions
            </Table.Th>
            <Table.Th role="columnheader">Labels</Table.Th>
            <Table.Th role="columnheader">Sandbox</Table.Th>
            <Table.Th role="columnheader" ta="right">
              Results
            </Table.Th>
            <Table.Th role="columnheader">Version</Table.Th>
            <Table.Th role="columnheader">Started</Table.Th>
            <Table.Th role="columnheader">Seen</Table.Th>
          </Head>
          <Table.Tbody role="rowgroup">
            {shown.map((worker) => (
              <WorkerRow key={worker.id} worker={worker} />
            ))}
          </Table.Tbody>
        </WideTable>
      )}
    </Section>
  );
}

function WorkerRow({ worker }: { worker: Worker }) {
  return (
    <Table.Tr role="row">
      <Cell place="title">
        <strong>
          <Untrusted text={worker.name} />
        </strong>
        {worker.host !== null && (
          <Text size="xs" c="dimmed">
            <Untrusted text={`${worker.host}, process ${worker.pid}`} />
          </Text>
        )}
      </Cell>
      <Cell place="beside">
        <Label tone={TONES[worker.state]}>{worker.state}</Label>
      </Cell>
      <Cell label="Busy" ta="right" title="Shards in work, of those that it executes at once">
        {count(worker.busy)} of {count(worker.shards)}
      </Cell>
      <Cell label="Questions" ta="right" title="Questions that it asks at once">
        {count(worker.questions)}
      </Cell>
      <Cell label="Labels">
        <span>
          <Untrusted text={worker.labels.join(", ") || "–"} />
          {worker.judges.length > 0 && (
            <Text size="xs" c="dimmed">
              judges as <Untrusted text={worker.judges.join(", ")} />
            </Text>
          )}
        </span>
      </Cell>
      <Cell label="Sandbox">{worker.has_sandbox ? "yes" : "no"}</Cell>
      <Cell label="Results" ta="right">
        {count(worker.done_results)}
      </Cell>
      <Cell label="Version">
        <Untrusted text={worker.version} />
      </Cell>
      <Cell label="Started">
        <When at={worker.started_at} />
      </Cell>
      <Cell label="Seen">
        <When at={worker.seen_at} hasSeconds />
      </Cell>
    </Table.Tr>
  );
}

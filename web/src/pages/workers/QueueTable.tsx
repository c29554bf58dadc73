import { Table } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { count, seconds } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { Section } from "./Section";

/** Workers that are named; of more, only how many there are. */
const NAMED = 8;

/** Each queue: what waits there, for how long, and who takes it. */
export function QueueTable({ queues }: { queues: Schemas["QueueState"][] }) {
  return (
    <Section title="Queues">
      <WideTable isCards label="Queues" minWidth={560}>
        <Head>
          <Table.Th role="columnheader">Queue</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Depth
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            In work
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Lag
          </Table.Th>
          <Table.Th role="columnheader">Live workers</Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {queues.map((one) => (
            <Table.Tr role="row" key={one.queue}>
              <Cell place="title" fw={600}>
                <Untrusted text={one.queue} />
              </Cell>
              <Cell label="Depth" ta="right">
                {count(one.depth)}
              </Cell>
              <Cell label="In work" ta="right">
                {count(one.in_work)}
              </Cell>
              <Cell label="Lag" ta="right">
                {one.depth ? seconds(one.lag_seconds) : "–"}
              </Cell>
              <Cell label="Live workers">
                <Names names={one.workers} />
              </Cell>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </Section>
  );
}

function Names({ names }: { names: string[] }) {
  if (names.length === 0) return <>none</>;
  const more = names.length - NAMED;
  return (
    <span>
      <Untrusted text={names.slice(0, NAMED).join(", ")} />
      {more > 0 && ` and ${count(more)} more`}
    </span>
  );
}

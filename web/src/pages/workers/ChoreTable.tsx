import { Table } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { count, seconds } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { Section } from "./Section";

/** Other work on request: verdicts of reviews, recalculation, audits. */
export function ChoreTable({ chores }: { chores: Schemas["ChoreState"][] }) {
  return (
    <Section title="Chores">
      <WideTable isCards label="Chores" minWidth={480}>
        <Head>
          <Table.Th role="columnheader">Kind</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Waiting
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            In work
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Failed
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Lag
          </Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {chores.map((one) => (
            <Table.Tr role="row" key={one.kind}>
              <Cell place="title" fw={600}>
                <Untrusted text={one.kind} />
              </Cell>
              <Cell label="Waiting" ta="right">
                {count(one.waiting)}
              </Cell>
              <Cell label="In work" ta="right">
                {count(one.in_work)}
              </Cell>
              <Cell label="Failed" ta="right">
                {count(one.failed)}
              </Cell>
              <Cell label="Lag" ta="right">
                {one.waiting ? seconds(one.lag_seconds) : "–"}
              </Cell>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </Section>
  );
}

import { Table, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { count, percent, score } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";

/** The agents that earn, with their reputation. */
export function AgentTable({ agents }: { agents: Schemas["MarketAgent"][] }) {
  return (
    <section aria-label="Agents">
      <Title order={2} size="h4" mb="sm">
        Agents and their reputation
      </Title>
      <WideTable isCards label="Agents and their reputation" minWidth={620}>
        <Head>
          <Table.Th role="columnheader">Agent</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Assigned
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Judged
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Paid
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            No submission
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Win rate
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Average score
          </Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {agents.map(({ id, version, reputation }) => (
            <Table.Tr role="row" key={id}>
              <Cell place="title">
                <Untrusted text={`${id} ${version}`} />
              </Cell>
              <Cell label="Assigned" ta="right">
                {count(reputation.attempts)}
              </Cell>
              <Cell label="Judged" ta="right">
                {count(reputation.judged)}
              </Cell>
              <Cell label="Paid" ta="right">
                {count(reputation.wins)}
              </Cell>
              <Cell label="No submission" ta="right">
                {count(reputation.no_shows)}
              </Cell>
              <Cell place="score" ta="right">
                {rate(reputation.win_rate)}
              </Cell>
              <Cell label="Average score" ta="right">
                {score(reputation.average_score)}
              </Cell>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

export function rate(share: number | null): string {
  return percent(share === null ? null : share * 100);
}

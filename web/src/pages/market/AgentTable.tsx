import { Table, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { count, percent, score } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

/** The agents that earn, with their reputation. */
export function AgentTable({ agents }: { agents: Schemas["MarketAgent"][] }) {
  return (
    <section aria-label="Agents">
      <Title order={2} size="h4" mb="sm">
        Agents and their reputation
      </Title>
      <WideTable label="Agents and their reputation" minWidth={620}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Agent</Table.Th>
            <Table.Th ta="right">Assigned</Table.Th>
            <Table.Th ta="right">Judged</Table.Th>
            <Table.Th ta="right">Paid</Table.Th>
            <Table.Th ta="right">No submission</Table.Th>
            <Table.Th ta="right">Win rate</Table.Th>
            <Table.Th ta="right">Average score</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {agents.map(({ id, version, reputation }) => (
            <Table.Tr key={id}>
              <Table.Td>
                <Untrusted text={`${id} ${version}`} />
              </Table.Td>
              <Table.Td ta="right">{count(reputation.attempts)}</Table.Td>
              <Table.Td ta="right">{count(reputation.judged)}</Table.Td>
              <Table.Td ta="right">{count(reputation.wins)}</Table.Td>
              <Table.Td ta="right">{count(reputation.no_shows)}</Table.Td>
              <Table.Td ta="right">{rate(reputation.win_rate)}</Table.Td>
              <Table.Td ta="right">{score(reputation.average_score)}</Table.Td>
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

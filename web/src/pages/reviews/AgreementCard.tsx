import { Paper, Table, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { amount, count, percent } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

/** How far the reviewers agree; shown once two have answered the same item. */
export function AgreementCard({ agreement }: { agreement: Schemas["ReviewAgreement"] }) {
  if (agreement.shared_items === 0) return null;
  return (
    <Paper withBorder p="lg" component="section" aria-label="Agreement">
      <Title order={2} size="h4">
        Agreement
      </Title>
      <Text size="sm" mb="sm">
        Reviewers agree on {count(agreement.agreed_items)} of{" "}
        {amount(agreement.shared_items, "item")} that two or more of them answered (
        {percent(agreement.share === null ? null : agreement.share * 100)}).
      </Text>
      <WideTable label="Agreement of reviewers" minWidth={420}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Reviewers</Table.Th>
            <Table.Th ta="right">Shared items</Table.Th>
            <Table.Th ta="right">Agreed</Table.Th>
            <Table.Th ta="right">Kappa</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {agreement.pairs.map((pair) => (
            <Table.Tr key={`${pair.first} ${pair.second}`}>
              <Table.Td>
                <Untrusted text={pair.first} /> and <Untrusted text={pair.second} />
              </Table.Td>
              <Table.Td ta="right">{count(pair.common)}</Table.Td>
              <Table.Td ta="right">{count(pair.agreed)}</Table.Td>
              <Table.Td ta="right">
                {pair.kappa === null ? "too few data" : pair.kappa.toFixed(2)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </Paper>
  );
}

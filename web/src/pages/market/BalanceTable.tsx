import { Table, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

/** The balance of every account. */
export function BalanceTable({ balances }: { balances: Schemas["Balance"][] }) {
  return (
    <section aria-label="Balances">
      <Title order={2} size="h4">
        Balances
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Test money (TEST), worth nothing. Money in escrow is locked until the task's verdict.
      </Text>
      <WideTable label="Balances" minWidth={320}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Account</Table.Th>
            <Table.Th ta="right">TEST</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {balances.map(({ account, amount }) => (
            <Table.Tr key={account}>
              <Table.Td>
                <Untrusted text={account} />
              </Table.Td>
              <Table.Td ta="right">{amount}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

import { Table, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { WideTable } from "../../ui/WideTable";

interface EscrowTableProps {
  entries: Schemas["LedgerEntry"][];
  currency: string;
}

/** The ledger entries of a task; the postings of an entry sum to zero. */
export function EscrowTable({ entries, currency }: EscrowTableProps) {
  return (
    <section aria-label="Escrow">
      <Title order={2} size="h4">
        Escrow
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        The ledger's postings for this task; the postings of an entry sum to zero.
      </Text>
      <WideTable label="Postings" minWidth={520}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>When</Table.Th>
            <Table.Th>Entry</Table.Th>
            <Table.Th>Account</Table.Th>
            <Table.Th ta="right">{currency}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {entries.flatMap((entry) =>
            entry.postings.map((posting, index) => (
              <Table.Tr key={`${entry.id} ${posting.account}`}>
                <Table.Td>{index === 0 ? <When at={entry.at} /> : ""}</Table.Td>
                <Table.Td>{index === 0 ? `${entry.id}: ${entry.kind}` : ""}</Table.Td>
                <Table.Td>
                  <Untrusted text={posting.account} />
                </Table.Td>
                <Table.Td ta="right">{signedText(posting.amount)}</Table.Td>
              </Table.Tr>
            )),
          )}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

/** Amounts stay text, because they are exact. */
function signedText(amount: string): string {
  return amount.startsWith("-") ? amount.replace("-", "−") : `+${amount}`;
}

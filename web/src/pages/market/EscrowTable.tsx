import { Table, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";

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
      <WideTable isCards label="Postings" minWidth={520}>
        <Head>
          <Table.Th role="columnheader">When</Table.Th>
          <Table.Th role="columnheader">Entry</Table.Th>
          <Table.Th role="columnheader">Account</Table.Th>
          <Table.Th role="columnheader" ta="right">
            {currency}
          </Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {entries.flatMap((entry) =>
            entry.postings.map((posting, index) => (
              <Table.Tr role="row" key={`${entry.id} ${posting.account}`}>
                <Cell>{index === 0 ? <When at={entry.at} /> : ""}</Cell>
                <Cell label={index === 0 ? "Entry" : undefined}>
                  {index === 0 ? `${entry.id}: ${entry.kind}` : ""}
                </Cell>
                <Cell place="title">
                  <Untrusted text={posting.account} />
                </Cell>
                <Cell place="score" ta="right">
                  {signedText(posting.amount)}
                </Cell>
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

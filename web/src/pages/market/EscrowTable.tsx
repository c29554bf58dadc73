import { Table, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { amountPlace, signedText } from "./amounts";

interface EscrowTableProps {
  entries: Schemas["LedgerEntry"][];
  currency: string;
}

/** The ledger entries of a task; the postings of an entry sum to zero. */
export function EscrowTable({ entries, currency }: EscrowTableProps) {
  const amounts = entries.flatMap(({ postings }) => postings.map(({ amount }) => amount));
  const place = amountPlace(amounts);
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
                <Cell place={place} label={currency} ta="right">
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

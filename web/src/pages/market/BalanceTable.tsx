import { Table, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { amountPlace } from "./amounts";
import { isOnChain, worthNothing } from "./ledgers";

interface BalanceTableProps {
  balances: Schemas["Balances"];
  /** Whose ledger the balances are of; undefined while it loads. */
  market: Schemas["MarketInfo"] | undefined;
}

/** The balance of every account. */
export function BalanceTable({ balances: { balances, currency }, market }: BalanceTableProps) {
  const place = amountPlace(balances.map(({ amount }) => amount));
  const worth = market && worthNothing(market);
  return (
    <section aria-label="Balances">
      <Title order={2} size="h4">
        Balances
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        In {currency}
        {worth && ` (${worth})`}.{" "}
        {market && isOnChain(market) && "What a user has is in their wallet. "}
        Money in escrow is locked until the task's verdict.
      </Text>
      <WideTable isCards label="Balances" minWidth={320}>
        <Head>
          <Table.Th role="columnheader">Account</Table.Th>
          <Table.Th role="columnheader" ta="right">
            {currency}
          </Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {balances.map(({ account, amount }) => (
            <Table.Tr role="row" key={account}>
              <Cell place="title">
                <Untrusted text={account} />
                {account.startsWith("credit:") && (
                  <Text size="xs" c="dimmed">
                    left in the contract by a refused payment; collect it with{" "}
                    <code>arena ledger withdraw</code>
                  </Text>
                )}
              </Cell>
              <Cell place={place} label={currency} ta="right">
                {amount}
              </Cell>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

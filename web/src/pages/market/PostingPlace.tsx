import type { Schemas } from "../../api/queries";
import { Hash } from "../../ui/Hash";
import { isOnChain, ledgerMark, worthNothing } from "./ledgers";

/** Where new tasks are posted and what they are paid in. */
export function PostingPlace({ market }: { market: Schemas["MarketInfo"] }) {
  const { network, contract, currency } = market;
  const worth = worthNothing(market);
  return (
    <div>
      {isOnChain(market) ? (
        <>
          New tasks are posted to the contract{" "}
          {contract && <Hash what="contract" text={contract} />} on{" "}
          {network ? ledgerMark(market) : "a chain that cannot be reached now"}
        </>
      ) : (
        "New tasks are posted to the embedded ledger"
      )}{" "}
      and paid in {currency}
      {worth && ` (${worth})`}.
    </div>
  );
}

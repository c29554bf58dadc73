import type { Schemas } from "../../api/queries";

/** Where tasks are: a task, or the market, which says where new ones are posted. */
type Place = Pick<Schemas["Task"], "ledger" | "network" | "currency">;

const EMBEDDED = "embedded";
/** Chains that a developer starts on their own machine, by id, and with what. */
const DEVELOPMENT: Record<string, string> = {
  "eip155:31337": "Anvil, Hardhat",
  "eip155:1337": "Geth, Ganache",
};

export function isOnChain({ ledger }: Pick<Place, "ledger">): boolean {
  return ledger !== EMBEDDED;
}

export function ledgerInWords(place: Place): string {
  return isOnChain(place) ? "Contract on a chain" : "Embedded ledger";
}

/** "eip155:31337" as "Chain 31337 (development chain: Anvil, Hardhat)". */
export function networkInWords(network: string): string {
  const tool = DEVELOPMENT[network];
  const chain = network.replace(/^eip155:/, "Chain ");
  return tool ? `${chain} (development chain: ${tool})` : chain;
}

/** The ledger of a task in as few words as a list has room for. */
export function ledgerMark({ ledger, network }: Place): string {
  return network?.replace(/^eip155:/, "chain ") ?? ledger;
}

/** Says that money is worth nothing, where that is so; undefined for any other money. */
export function worthNothing(place: Place): string | undefined {
  if (!isOnChain(place)) return "test money, worth nothing";
  if (place.network && DEVELOPMENT[place.network])
    return `development chain: its ${place.currency} is worth nothing`;
  return undefined;
}

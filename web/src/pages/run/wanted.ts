import type { ResultsWanted } from "../../api/queries";

const OUTCOMES = ["passed", "failed", "awaiting"] as const;

/** Which results an address asks for; what it says wrong it does not say. */
export function wantedIn(search: URLSearchParams): ResultsWanted {
  return {
    outcome: OUTCOMES.find((one) => one === search.get("outcome")),
    category: search.get("category") ?? undefined,
    flaky: search.get("flaky") === "true" || undefined,
  };
}

/** The end of an address that asks for the same results. */
export function askingFor(wanted: ResultsWanted): string {
  const search = new URLSearchParams();
  if (wanted.outcome) search.set("outcome", wanted.outcome);
  if (wanted.category) search.set("category", wanted.category);
  if (wanted.flaky) search.set("flaky", "true");
  return search.size ? `?${search}` : "";
}

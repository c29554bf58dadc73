import type { ResultsWanted } from "../../api/queries";

const OUTCOMES = ["passed", "failed", "awaiting"] as const;

/** The filter in an address; invalid values are ignored. */
export function wantedIn(search: URLSearchParams): ResultsWanted {
  return {
    outcome: OUTCOMES.find((one) => one === search.get("outcome")),
    category: search.get("category") ?? undefined,
    flaky: search.get("flaky") === "true" || undefined,
  };
}

/** The query string of a filter. */
export function askingFor(wanted: ResultsWanted): string {
  const search = new URLSearchParams();
  if (wanted.outcome) search.set("outcome", wanted.outcome);
  if (wanted.category) search.set("category", wanted.category);
  if (wanted.flaky) search.set("flaky", "true");
  return search.size ? `?${search}` : "";
}

import type { ResultFilter } from "../../api/queries";

const OUTCOMES = ["passed", "failed", "awaiting"] as const;

/** The filter in an address; invalid values are ignored. */
export function filterIn(search: URLSearchParams): ResultFilter {
  return {
    outcome: OUTCOMES.find((one) => one === search.get("outcome")),
    category: search.get("category") ?? undefined,
    flaky: search.get("flaky") === "true" || undefined,
  };
}

/** The query string of a filter. */
export function queryOf(filter: ResultFilter): string {
  const search = new URLSearchParams();
  if (filter.outcome) search.set("outcome", filter.outcome);
  if (filter.category) search.set("category", filter.category);
  if (filter.flaky) search.set("flaky", "true");
  return search.size ? `?${search}` : "";
}

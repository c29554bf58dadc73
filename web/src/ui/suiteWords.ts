import type { Schemas } from "../api/queries";

/** Digits of a suite's version, as the command line shows it. */
const DIGITS = 12;

/** A version as its author calls it, else its first digits. */
export function versionName(version: string, label?: string | null): string {
  return label || version.slice(0, DIGITS);
}

/** The address of a suite's page. */
export function suiteHref(suite: string): string {
  return `/suites/${encodeURIComponent(suite)}`;
}

/** The address of an agent's page, with its scores on the board of a suite. */
export function agentHref(agentId: string, suite?: string): string {
  const path = `/agents/${encodeURIComponent(agentId)}`;
  return suite ? `${path}?suite=${encodeURIComponent(suite)}` : path;
}

/** The address of a board: of a suite, one of its versions, or a past moment. */
export function boardHref(choices: Record<string, string | null | undefined>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(choices)) if (value) query.set(name, value);
  return query.size ? `/leaderboard?${query}` : "/leaderboard";
}

const PROVENANCES: Record<Schemas["Provenance"], string> = {
  run_here: "run here",
  re_executed: "re-executed here",
  reported: "reported",
};

/** Where a run was executed, in words. */
export function provenanceName(provenance: Schemas["Provenance"]): string {
  return PROVENANCES[provenance];
}

/** The overall score; without a benchmark it would only be ratings or a success rate. */
export function overallOf({
  overall_score,
  benchmark_score,
}: Pick<Schemas["BoardEntry"], "overall_score" | "benchmark_score">): number | null {
  return benchmark_score === null ? null : overall_score;
}

/** What a success is: it is easily taken for a passed test. */
export const SUCCESS_RATE = "answered without error, whatever the verdict";

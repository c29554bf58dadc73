/** Cache keys; what changes together has a common prefix. */
export const keys = {
  agents: ["agents"] as const,
  catalog: ["catalog"] as const,
  teams: ["teams"] as const,
  runs: (team: string) => [team, "runs"] as const,
  run: (team: string, runId: string) => [team, "run", runId] as const,
  scores: (team: string) => [team, "scores"] as const,
  /** Within the scores: a run changes a suite's board, and an edited test its version. */
  suites: (team: string) => [team, "scores", "suites"] as const,
  reviews: (team: string) => [team, "reviews"] as const,
  market: (team: string) => [team, "market"] as const,
  workers: (team: string) => [team, "workers"] as const,
};

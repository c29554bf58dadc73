import type { components } from "../api/schema";

type Status = components["schemas"]["RunStatus"];
export type RunState = Status | "interrupted";

/** The state of a run for a reader: one that nobody executes any more is not running. */
export function stateOf(run: { status: Status; is_interrupted: boolean }): RunState {
  return run.is_interrupted ? "interrupted" : run.status;
}

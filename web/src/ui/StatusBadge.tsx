import type { RunState } from "./runState";
import classes from "./StatusBadge.module.css";

/** The state of a run. */
export function StatusBadge({ state }: { state: RunState }) {
  return (
    <span className={classes.status} data-status={state}>
      {state.replace("_", " ")}
    </span>
  );
}

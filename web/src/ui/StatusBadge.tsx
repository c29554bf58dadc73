import type { components } from "../api/schema";
import classes from "./StatusBadge.module.css";

type Status = components["schemas"]["Run"]["status"];

/** The state of a run. */
export function StatusBadge({ status }: { status: Status }) {
  return (
    <span className={classes.status} data-status={status}>
      {status.replace("_", " ")}
    </span>
  );
}

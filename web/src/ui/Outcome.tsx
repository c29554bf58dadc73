import { Check, Cross } from "./icons";
import classes from "./Outcome.module.css";

/** Passed, failed, or (null) up to people: by word, by shape and by colour. */
export function Outcome({ passed, children }: { passed: boolean | null; children?: string }) {
  if (passed === null) {
    return <span className={classes.outcome} data-passed="waiting">{children ?? "awaiting review"}</span>;
  }
  return (
    <span className={classes.outcome} data-passed={passed}>
      {passed ? <Check /> : <Cross />}
      {children ?? (passed ? "passed" : "failed")}
    </span>
  );
}

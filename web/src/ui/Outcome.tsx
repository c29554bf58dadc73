import { Check, Cross } from "./icons";
import classes from "./Outcome.module.css";

/** Passed or failed: by word, by shape and by colour. */
export function Outcome({ passed, children }: { passed: boolean; children?: string }) {
  return (
    <span className={classes.outcome} data-passed={passed}>
      {passed ? <Check /> : <Cross />}
      {children ?? (passed ? "passed" : "failed")}
    </span>
  );
}

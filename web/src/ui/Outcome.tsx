import { Check, Clock, Cross } from "./icons";
import classes from "./Outcome.module.css";

interface OutcomeProps {
  /** Null while people have yet to judge. */
  passed: boolean | null;
  /** Another word than passed, failed or awaits review. */
  children?: string;
}

/** Passed, failed, or not judged yet: by word, by shape and by colour. */
export function Outcome({ passed, children }: OutcomeProps) {
  const word = passed === null ? "awaits review" : passed ? "passed" : "failed";
  return (
    <span className={classes.outcome} data-passed={passed ?? "open"}>
      {passed === null ? <Clock /> : passed ? <Check /> : <Cross />}
      {children ?? word}
    </span>
  );
}

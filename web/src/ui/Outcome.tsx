import { Check, Clock, Cross } from "./icons";
import classes from "./Outcome.module.css";

<<<<<<< HEAD
/** Passed, failed, or (null) up to people: by word, by shape and by colour. */
export function Outcome({ passed, children }: { passed: boolean | null; children?: string }) {
  if (passed === null) {
    return <span className={classes.outcome} data-passed="waiting">{children ?? "awaiting review"}</span>;
  }
=======
interface OutcomeProps {
  /** Null while people have yet to judge. */
  passed: boolean | null;
  /** Another word than passed, failed or awaits review. */
  children?: string;
}

/** Passed, failed, or not judged yet: by word, by shape and by colour. */
export function Outcome({ passed, children }: OutcomeProps) {
  const word = passed === null ? "awaits review" : passed ? "passed" : "failed";
>>>>>>> refs/heads/web
  return (
    <span className={classes.outcome} data-passed={passed ?? "open"}>
      {passed === null ? <Clock /> : passed ? <Check /> : <Cross />}
      {children ?? word}
    </span>
  );
}

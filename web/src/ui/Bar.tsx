import classes from "./Bar.module.css";

interface BarProps {
  passed: number;
  failed: number;
  total: number;
}

/** How much of a whole passed and failed: for the eye only; the numbers stand beside it. */
export function Bar({ passed, failed, total }: BarProps) {
  const width = (part: number) => ({ width: `${total > 0 ? (part / total) * 100 : 0}%` });
  return (
    <span className={classes.bar} aria-hidden>
      <span className={classes.passed} style={width(passed)} />
      <span className={classes.failed} style={width(failed)} />
    </span>
  );
}

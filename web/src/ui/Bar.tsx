import classes from "./Bar.module.css";

/** How much of a whole passed: a small bar, for the eye only; the number stands beside it. */
export function Bar({ share }: { share: number }) {
  return (
    <span className={classes.bar} aria-hidden>
      <span
        className={classes.filled}
        style={{ width: `${Math.max(0, Math.min(1, share)) * 100}%` }}
      />
    </span>
  );
}

import classes from "./Label.module.css";

export type Tone = "good" | "bad" | "warn" | "busy" | "quiet";

/** A state, shown by word and by colour. */
export function Label({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={classes.label} data-tone={tone}>
      {children}
    </span>
  );
}

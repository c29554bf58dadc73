import type { ReactNode } from "react";
import classes from "./Facts.module.css";

export interface Fact {
  label: string;
  value: ReactNode;
  /** A remark: the interval, or what the value is of. */
  note?: ReactNode;
  /** For a long value: it takes the room of two. */
  isWide?: boolean;
}

/** Labelled numbers, side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(({ label, value, note, isWide }) => (
        <div key={label} className={classes.fact} data-wide={isWide || undefined}>
          <dt>{label}</dt>
          <dd>
            <span className={classes.value}>{value}</span>
            {note && <span className={classes.note}>{note}</span>}
          </dd>
        </div>
      ))}
    </dl>
  );
}

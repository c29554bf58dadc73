import type { ReactNode } from "react";
import classes from "./Facts.module.css";

export interface Fact {
  label: string;
  value: ReactNode;
  /** A remark: the interval, or what the value is of. */
  note?: ReactNode;
}

/** Labelled numbers, side by side. */
export function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={classes.facts}>
      {facts.map(({ label, value, note }) => (
        <div key={label} className={classes.fact}>
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

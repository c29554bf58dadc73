import { Table } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./WideTable.module.css";

interface WideTableProps {
  label: string;
  minWidth?: number;
  children: ReactNode;
}

/** A table that scrolls within itself where the window is narrower than it is. */
export function WideTable({ label, minWidth = 640, children }: WideTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={classes.scroll} aria-label={label} tabIndex={0}>
      <Table miw={minWidth} className={classes.table} aria-label={label}>
        {children}
      </Table>
    </section>
  );
}

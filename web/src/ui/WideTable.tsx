import { Table, type TableTdProps } from "@mantine/core";
import type { ReactNode } from "react";
import classes from "./WideTable.module.css";

interface WideTableProps {
  label: string;
  minWidth?: number;
  /** On a phone each row is a card: use `Head` and `Cell`, and every value is in sight. */
  isCards?: boolean;
  children: ReactNode;
}

/** A table that scrolls within itself where the window is narrower than it is. */
export function WideTable({ label, minWidth = 640, isCards, children }: WideTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
    <section className={classes.scroll} aria-label={label} tabIndex={0}>
      <Table
        // A card is no table row to the browser any more, so the parts name their roles.
        role="table"
        className={classes.table}
        data-cards={isCards || undefined}
        aria-label={label}
        __vars={{ "--table-width": `${minWidth}px` }}
      >
        {children}
      </Table>
    </section>
  );
}

/** The heading of columns; a phone shows it beside each value instead. */
export function Head({ children }: { children: ReactNode }) {
  return (
    <Table.Thead role="rowgroup">
      <Table.Tr role="row">{children}</Table.Tr>
    </Table.Thead>
  );
}

interface CellProps extends TableTdProps {
  /** The name of its column, shown beside the value on a phone. */
  label?: string;
  /** Where it stands on a phone: the first line has the title on the left and the score right. */
  place?: "title" | "score" | "beside";
}

export function Cell({ label, place, ...rest }: CellProps) {
  return <Table.Td role="cell" data-label={label} data-place={place} {...rest} />;
}

import { useMediaQuery } from "@mantine/hooks";
import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef, useState } from "react";
import type { Schemas } from "../../api/queries";
import { ResultRow } from "./ResultRow";
import classes from "./ResultRows.module.css";

interface ResultRowsProps {
  runId: string;
  /** The filter as a query string, so that a result knows its neighbours in this list. */
  query: string;
  /** The rows loaded so far. */
  rows: Schemas["ResultRow"][];
  total: number;
  /** Whether tests were repeated, so that trials need a label. */
  hasTrials: boolean;
  /** Whether these are still the rows of the previous filter. */
  isStale: boolean;
  onNeedMore: () => void;
}

const HIGH = { desk: 48, phone: 84 };

/** A virtual list: only the rows in view are rendered. */
export function ResultRows(props: ResultRowsProps) {
  const { runId, query, rows, total, hasTrials, isStale, onNeedMore } = props;
  const list = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const isPhone = useMediaQuery("(max-width: 48em)", undefined, { getInitialValueInEffect: false });
  const high = isPhone ? HIGH.phone : HIGH.desk;
  const rendered = useWindowVirtualizer({
    count: total,
    estimateSize: () => high,
    overscan: 8,
    scrollMargin: top,
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: what stands above may have grown
  useLayoutEffect(() => {
    const place = list.current?.getBoundingClientRect().top ?? 0;
    setTop(Math.round(place + window.scrollY));
    // Not on every scroll: measuring forces a layout.
  }, [total, high, rows.length]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another height makes all places new
  useEffect(() => rendered.measure(), [high, rendered]);

  const items = rendered.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (last >= rows.length && rows.length < total) onNeedMore();
  }, [last, rows.length, total, onNeedMore]);

  return (
    <div
      role="table"
      aria-label="Results"
      aria-rowcount={total + 1}
      aria-busy={isStale || undefined}
      className={classes.table}
    >
      <div role="rowgroup">
        <div role="row" aria-rowindex={1} className={`${classes.row} ${classes.head}`}>
          <span role="columnheader">Outcome</span>
          <span role="columnheader">Test</span>
          <span role="columnheader">Category</span>
          <span role="columnheader">Points</span>
          <span role="columnheader">Time</span>
          <span role="columnheader">Cost</span>
        </div>
      </div>
      <div
        ref={list}
        role="rowgroup"
        className={classes.body}
        style={{ height: rendered.getTotalSize() }}
      >
        {items.map((item) => (
          <ResultRow
            key={item.key}
            runId={runId}
            query={query}
            row={rows[item.index]}
            hasTrials={hasTrials}
            isSameTest={rows[item.index - 1]?.test_id === rows[item.index]?.test_id}
            index={item.index}
            high={high}
            top={item.start - rendered.options.scrollMargin}
          />
        ))}
      </div>
    </div>
  );
}

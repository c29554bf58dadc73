import { Skeleton } from "@mantine/core";
import { memo } from "react";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Label } from "../../ui/Label";
import { dollars, score, seconds } from "../../ui/numbers";
import { Outcome } from "../../ui/Outcome";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./ResultRows.module.css";

interface ResultRowProps {
  runId: string;
  query: string;
  /** Undefined while loading. */
  row: Schemas["ResultRow"] | undefined;
  hasTrials: boolean;
  /** Whether the row above is another trial of the same test. */
  isSameTest: boolean;
  index: number;
  high: number;
  top: number;
}

/** Characters of a reason that fit into a row. */
const REASON = 160;

export const ResultRow = memo(function ResultRow(props: ResultRowProps) {
  const { runId, query, row, hasTrials, isSameTest, index, high, top } = props;
  const style = { height: high, transform: `translateY(${top}px)` };
  if (!row)
    return (
      <div role="row" aria-rowindex={index + 2} className={classes.row} style={style}>
        <span role="cell">
          <Skeleton height={14} width={60} />
        </span>
      </div>
    );
  return (
    <div
      role="row"
      aria-rowindex={index + 2}
      className={classes.row}
      data-same={isSameTest || undefined}
      style={style}
    >
      <span role="cell" className={classes.outcome}>
        <Outcome passed={row.passed}>
          {row.passed === false && row.status === "timeout" ? "timed out" : undefined}
        </Outcome>
      </span>
      <span role="cell" className={classes.test}>
        <Link href={`/runs/${runId}/results/${row.id}${query}`} className={classes.link}>
          <Untrusted text={row.name} />
        </Link>
        <span className={classes.dim}>
          {" "}
          {row.test_id}
          {hasTrials && ` · trial ${row.trial}`}
        </span>
        {row.truncated && (
          <>
            {" "}
            <Label tone="warn">cut</Label>
          </>
        )}
        {row.failure_reason && (
          <span className={classes.reason}>
            <Untrusted text={row.failure_reason.slice(0, REASON)} />
          </span>
        )}
      </span>
      <span role="cell" className={classes.category}>
        <Untrusted text={row.category} />
      </span>
      <span role="cell" className={classes.number}>
        {score(row.points_earned)}/{score(row.points_possible)}
      </span>
      <span role="cell" className={classes.number}>
        {seconds(row.duration_seconds)}
      </span>
      <span role="cell" className={classes.number}>
        {dollars(row.cost_usd)}
      </span>
    </div>
  );
});

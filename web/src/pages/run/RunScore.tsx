import { Paper, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { amount, count, percent, range } from "../../ui/numbers";
import classes from "./RunScore.module.css";
import { TestStrip } from "./TestStrip";

interface RunScoreProps {
  run: Schemas["Run"];
  details: Schemas["RunDetails"];
}

/** The score of a run, with its interval, and a mark for each of its tests. */
export function RunScore({ run, details }: RunScoreProps) {
  const { score_interval, trials } = details;
  const isOpen = run.status === "running" || run.status === "pending";
  return (
    <Paper withBorder p="lg" component="section" aria-label="Score" className={classes.card}>
      <div>
        <div className={classes.score}>{percent(run.score_percent)}</div>
        <Text size="sm" c="dimmed">
          {score_interval
            ? `${range(score_interval)} at ${Math.round(score_interval.confidence * 100)} % confidence`
            : isOpen
              ? "the run has not ended yet"
              : "no interval: not every test was executed and judged"}
        </Text>
      </div>
      <div className={classes.tests}>
        <Text component="p" m={0}>
          <strong>
            {count(run.passed_tests)} of {count(run.total_tests)} passed
          </strong>
          {run.failed_tests > 0 && `, ${count(run.failed_tests)} failed`}
          {run.errored_tests > 0 && `, ${count(run.errored_tests)} not executed`}
          {run.awaiting_tests > 0 && (
            <>
              , <Link href="/reviews">{count(run.awaiting_tests)} awaiting review</Link>
            </>
          )}
        </Text>
        <TestStrip run={run} />
        {trials && (
          <Text size="sm" c="dimmed">
            pass@{trials.k} {share(trials.pass_at_k)} (at least one trial passed), pass^{trials.k}{" "}
            {share(trials.pass_all_k)} (every trial passed),{" "}
            {amount(trials.flaky.length, "flaky test")}
          </Text>
        )}
      </div>
    </Paper>
  );
}

function share(value: number | null): string {
  return percent(value === null ? null : value * 100);
}

import { Progress as Line, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../api/queries";
import { count, percent } from "./numbers";
import type { RunState } from "./runState";

interface RunProgressProps {
  runId: string;
  state?: RunState;
  /** The latest event of the stream. */
  progress?: Schemas["Progress"];
  newest?: Schemas["Run"];
}

/** The progress or the outcome of an agent's newest run, as a link to it. */
export function RunProgress({ runId, state, progress, newest }: RunProgressProps) {
  if (!runId || !state)
    return (
      <Text size="sm" c="dimmed">
        Not benchmarked yet
      </Text>
    );
  const known = newest?.id === runId ? newest : undefined;
  const total = progress?.total ?? known?.total_tests ?? 0;
  const completed = progress?.completed ?? known?.completed_tests ?? 0;
  const passed = progress?.passed ?? known?.passed_tests ?? 0;
  if (state === "running" || state === "pending")
    return (
      <>
        <Link href={`/runs/${runId}`}>
          {state === "pending" ? "Waiting to start" : "Running"}: {count(completed)} of{" "}
          {count(total)}, {count(passed)} passed
        </Link>
        <Line
          mt={6}
          size="sm"
          value={total ? (completed / total) * 100 : 0}
          aria-label={`Progress: ${completed} of ${total}`}
        />
      </>
    );
  return (
    <Link href={`/runs/${runId}`}>
      {state === "completed"
        ? `Last run: ${count(passed)} of ${count(total)} passed (${percent(total ? (passed / total) * 100 : null)})`
        : `Last run: ${state.replace("_", " ")}`}
    </Link>
  );
}

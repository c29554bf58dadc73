import { Progress as Line, Text } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import type { Schemas } from "../api/queries";
import { count, percent } from "./numbers";
import { stateOf } from "./runState";

interface RunProgressProps {
  runId: string;
  /** Which run it is: "Benchmark run", "Last run". */
  name: string;
  /** The latest event of the stream. */
  progress?: Schemas["Progress"];
  /** The run itself, if it is loaded. */
  run?: Schemas["Run"];
  /** Marks of a run that has ended. */
  children?: ReactNode;
}

/** The progress or the outcome of an agent's run, as a link to it. */
export function RunProgress({ runId, name, progress, run, children }: RunProgressProps) {
  if (!runId)
    return (
      <Text size="sm" c="dimmed">
        Not benchmarked yet
      </Text>
    );
  const latest = progress ?? run;
  const state = latest && stateOf(latest);
  const total = progress?.total ?? run?.total_tests ?? 0;
  const completed = progress?.completed ?? run?.completed_tests ?? 0;
  const passed = progress?.passed ?? run?.passed_tests ?? 0;
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
  const outcome =
    state === "completed"
      ? `: ${count(passed)} of ${count(total)} passed (${percent(total ? (passed / total) * 100 : null)})`
      : state && `: ${state.replace("_", " ")}`;
  return (
    <>
      <Link href={`/runs/${runId}`}>
        {name}
        {outcome}
      </Link>
      {children}
    </>
  );
}

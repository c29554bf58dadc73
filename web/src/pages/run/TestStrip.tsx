import { type Schemas, useResults } from "../../api/queries";
import { Bar } from "../../ui/Bar";
import { marked } from "../../ui/marks";
import { amount } from "../../ui/numbers";
import classes from "./RunScore.module.css";

type Row = Schemas["ResultRow"];

const OUTCOMES = ["failed", "flaky", "awaiting", "passed"] as const;
type Outcome = (typeof OUTCOMES)[number];

/** All tests of a run, a mark for each, tests with a failure first; a long run gets a bar. */
export function TestStrip({ run }: { run: Schemas["Run"] }) {
  const results = useResults(run.id, {});
  const page = results.data?.pages[0];
  if (!page || page.results.length < page.total || page.total === 0)
    return <Bar passed={run.passed_tests} failed={run.failed_tests} total={run.total_tests} />;
  const tests = [...byTest(page.results).values()];
  const summary = OUTCOMES.map((outcome) => ({
    outcome,
    number: tests.filter((rows) => outcomeOf(rows) === outcome).length,
  }))
    .filter(({ number }) => number > 0)
    .map(({ outcome, number }) => `${number} ${outcome}`)
    .join(", ");
  return (
    <div
      role="img"
      className={classes.strip}
      aria-label={`${amount(tests.length, "test")}: ${summary}`}
    >
      {tests.map((rows) => (
        <span
          key={rows[0]?.test_id}
          className={classes.mark}
          data-outcome={outcomeOf(rows)}
          title={titleOf(rows)}
        />
      ))}
    </div>
  );
}

function byTest(rows: Row[]): Map<string, Row[]> {
  const tests = new Map<string, Row[]>();
  for (const row of rows) tests.set(row.test_id, [...(tests.get(row.test_id) ?? []), row]);
  return tests;
}

function outcomeOf(rows: Row[]): Outcome {
  const passed = rows.filter((row) => row.passed === true).length;
  const failed = rows.filter((row) => row.passed === false).length;
  if (failed > 0) return passed > 0 ? "flaky" : "failed";
  return passed === rows.length ? "passed" : "awaiting";
}

function titleOf(rows: Row[]): string {
  const passed = rows.filter((row) => row.passed === true).length;
  const trials = rows.length > 1 ? ` (${passed} of ${rows.length} trials passed)` : "";
  return `${marked(rows[0]?.name ?? "")}: ${outcomeOf(rows)}${trials}`;
}

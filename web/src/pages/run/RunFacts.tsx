import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { type Fact, Facts } from "../../ui/Facts";
import { amount, count, dollars, percent, score, seconds } from "../../ui/numbers";

interface RunFactsProps {
  run: Schemas["Run"];
  details: Schemas["RunDetails"];
}

/** The run in numbers. */
export function RunFacts({ run, details }: RunFactsProps) {
  const { trials } = details;
  const tokens =
    run.input_tokens === null && run.output_tokens === null
      ? null
      : (run.input_tokens ?? 0) + (run.output_tokens ?? 0);
  const facts: Fact[] = [
    {
      label: "Score",
      value: percent(run.score_percent),
      note: `${count(run.passed_tests)} of ${count(run.total_tests)} passed`,
    },
    {
      label: "Points",
      value: percent(run.points_percent),
      note: `${score(run.points_earned)} of ${score(run.points_possible)}`,
    },
    { label: "Failed", value: count(run.failed_tests), note: "failures of the agent" },
    { label: "Not executed", value: count(run.errored_tests), note: "infrastructure errors" },
    ...(run.awaiting_tests > 0
      ? [
          {
            label: "Awaiting review",
            value: <Link href="/reviews">{count(run.awaiting_tests)}</Link>,
            note: "waiting for people",
          },
        ]
      : []),
    {
      label: "Time",
      value: seconds(run.duration_seconds),
      note: run.completed_tests
        ? `${seconds(run.results_duration_seconds / run.completed_tests)} per test`
        : undefined,
    },
    {
      label: "Tokens",
      value: count(tokens),
      note:
        tokens === null
          ? "not reported by the agent"
          : `${count(run.input_tokens)} in, ${count(run.output_tokens)} out`,
    },
    {
      label: "Cost",
      value: dollars(run.cost_usd),
      note:
        details.cost_usd_per_passed_test != null
          ? `${dollars(details.cost_usd_per_passed_test)} per passed test`
          : run.cost_usd === null
            ? "unknown"
            : `of ${amount(run.costed_tests, "test")}`,
    },
  ];
  if (trials)
    facts.push(
      {
        label: `pass@${trials.k}`,
        value: share(trials.pass_at_k),
        note: "at least one trial passed",
      },
      { label: `pass^${trials.k}`, value: share(trials.pass_all_k), note: "every trial passed" },
      { label: "Flaky tests", value: count(trials.flaky.length), note: "pass only sometimes" },
    );
  return <Facts facts={facts} />;
}

function share(value: number | null): string {
  return percent(value === null ? null : value * 100);
}

import type { Schemas } from "../../api/queries";
import { type Fact, Facts } from "../../ui/Facts";
import { amount, count, dollars, percent, score, seconds } from "../../ui/numbers";

interface RunFactsProps {
  run: Schemas["Run"];
  details: Schemas["RunDetails"];
}

/** What the run cost: points, time, tokens and money. */
export function RunFacts({ run, details }: RunFactsProps) {
  const tokens =
    run.input_tokens === null && run.output_tokens === null
      ? null
      : (run.input_tokens ?? 0) + (run.output_tokens ?? 0);
  const facts: Fact[] = [
    {
      label: "Points",
      value: percent(run.points_percent),
      note: `${score(run.points_earned)} of ${score(run.points_possible)}`,
    },
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
  return <Facts facts={[...facts, ...budgetOf(run)]} />;
}

/** What the run may spend, and what it has spent: also on judges and simulated users. */
function budgetOf({ budget, spent }: Schemas["Run"]): Fact[] {
  if (!budget) return [];
  const limits = [
    budget.max_cost_usd != null &&
      `${dollars(spent?.cost_usd ?? 0)} of ${dollars(budget.max_cost_usd)}`,
    budget.max_tokens != null &&
      `${count(spent?.tokens ?? 0)} of ${amount(budget.max_tokens, "token")}`,
    budget.max_minutes != null &&
      `${seconds(spent?.seconds ?? 0)} of ${seconds(60 * budget.max_minutes)}`,
  ].filter((text) => text !== false);
  return [
    { label: "Budget", value: limits.join(", "), note: "spent, judges included", isWide: true },
  ];
}

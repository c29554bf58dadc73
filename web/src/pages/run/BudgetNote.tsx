import { Alert, Code, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Warning } from "../../ui/icons";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";

/** Says that the run has spent its budget, and how to continue it with a larger one. */
export function BudgetNote({ run }: { run: Schemas["Run"] }) {
  return (
    <Alert color="orange" icon={<Warning />} title="The run was stopped by its budget">
      <Text size="sm">
        <Untrusted text={run.error_message ?? ""} />
      </Text>
      <Text size="sm" mt="xs">
        Its {count(run.completed_tests)} of {count(run.total_tests)} results are kept. Continue it
        in a terminal with a larger budget, like{" "}
        <Code>
          arena runs resume {run.id} {largerBudget(run)}
        </Code>
        .
      </Text>
    </Alert>
  );
}

/** An option that lets the run go on, as `arena runs show` says it: twice the limit that was reached. */
function largerBudget({ budget, spent }: Schemas["Run"]): string {
  const { max_cost_usd: cost, max_tokens: tokens, max_minutes: minutes } = budget ?? {};
  if (cost != null && (spent?.cost_usd ?? 0) >= cost) return `--max-cost ${round(2 * cost)}`;
  if (tokens != null && (spent?.tokens ?? 0) >= tokens) return `--max-tokens ${2 * tokens}`;
  if (minutes != null && (spent?.seconds ?? 0) >= 60 * minutes)
    return `--max-minutes ${round(2 * minutes)}`;
  return "--allow-unknown-prices";
}

/** Without the error of binary fractions. */
function round(value: number): number {
  return Number(value.toPrecision(6));
}

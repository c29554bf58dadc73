import { Alert, List, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Warning } from "../../ui/icons";
import { amount, count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";

interface ErrorListProps {
  errors: Schemas["RunError"][];
  total: number;
  /** Whether tests were repeated, so that trials need a label. */
  hasTrials: boolean;
}

/** Infrastructure errors, shown apart from the agent's failures. */
export function ErrorList({ errors, total, hasTrials }: ErrorListProps) {
  if (errors.length === 0) return null;
  const number = Math.max(total, errors.length);
  return (
    <Alert
      color="yellow"
      icon={<Warning />}
      title={`${amount(number, "test")} could not be executed`}
    >
      <Text size="sm" mb="xs">
        The agent did not cause this, so these count as neither passed nor failed. Fix the cause,
        then resume the run.
      </Text>
      <List size="sm">
        {errors.slice(0, 20).map((error) => (
          <List.Item key={`${error.test_id} ${error.trial}`}>
            <code>{error.test_id}</code>
            {hasTrials && ` (trial ${error.trial})`}: <Untrusted text={error.reason} /> (after{" "}
            {amount(error.attempts, "attempt")})
          </List.Item>
        ))}
      </List>
      {number > 20 && <Text size="sm">and {count(number - 20)} more</Text>}
    </Alert>
  );
}

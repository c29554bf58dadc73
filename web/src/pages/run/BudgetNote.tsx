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
        <Code>arena runs resume {run.id} --max-cost 5</Code>.
      </Text>
    </Alert>
  );
}

import { Alert, Code, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Warning } from "../../ui/icons";
import { count } from "../../ui/numbers";

/** Says that nobody executes the run any more, and how to continue it. */
export function InterruptedNote({ run }: { run: Schemas["Run"] }) {
  return (
    <Alert color="orange" icon={<Warning />} title="The run was interrupted">
      <Text size="sm">
        The process that executed it has ended after {count(run.completed_tests)} of{" "}
        {count(run.total_tests)} results, which are kept. Resume the run here to have this server
        execute the rest, or in a terminal with <Code>arena runs resume {run.id}</Code>.
      </Text>
    </Alert>
  );
}

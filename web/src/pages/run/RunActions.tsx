import { Button } from "@mantine/core";
import { type Schemas, useRunAction } from "../../api/queries";
import { ConfirmButton } from "../../ui/ConfirmButton";
import { Bolt } from "../../ui/icons";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";

/** What can be done with a run in the state it is in. */
export function RunActions({ run }: { run: Schemas["Run"] }) {
  const action = useRunAction(run.id);
  const isOpen = ["pending", "running", "awaiting_review"].includes(run.status);
  return (
    <>
      {action.error && action.variables !== "cancel" && <ProblemNote error={action.error} />}
      {run.status === "pending" && (
        <Button
          leftSection={<Bolt />}
          loading={action.isPending}
          onClick={() => action.mutate("execute")}
        >
          Execute
        </Button>
      )}
      {run.status === "failed" && (
        <Button
          leftSection={<Bolt />}
          loading={action.isPending}
          onClick={() => action.mutate("resume")}
        >
          Resume
        </Button>
      )}
      {isOpen && (
        <ConfirmButton
          label="Cancel run"
          question="Cancel this run?"
          confirm="Cancel the run"
          refuse="Let it go on"
          onConfirm={() => action.mutateAsync("cancel")}
        >
          It stops for good and cannot be resumed. The {amount(run.completed_tests, "result")} that
          it has will stay, but it will not count for the leaderboard.
        </ConfirmButton>
      )}
    </>
  );
}

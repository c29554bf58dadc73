import { Button } from "@mantine/core";
import { type Schemas, useRunAction } from "../../api/queries";
import { ConfirmButton } from "../../ui/ConfirmButton";
import { Bolt } from "../../ui/icons";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { stateOf } from "../../ui/runState";

/** The actions that the state of a run allows. */
export function RunActions({ run }: { run: Schemas["Run"] }) {
  const action = useRunAction(run.id);
  const state = stateOf(run);
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
      {(state === "failed" || state === "interrupted") && (
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
          refuse={state === "running" ? "Keep running" : "Keep the run"}
          onConfirm={() => action.mutateAsync("cancel")}
        >
          A cancelled run cannot be resumed. Its {amount(run.completed_tests, "result")} so far will
          stay, but the run will not count for the leaderboard.
        </ConfirmButton>
      )}
    </>
  );
}

import { Button } from "@mantine/core";
import { useArchiveRun } from "../../api/boards";
import { type Schemas, useRunAction } from "../../api/queries";
import { ConfirmButton } from "../../ui/ConfirmButton";
import { Bolt } from "../../ui/icons";
import { LoggedAction } from "../../ui/LoggedAction";
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
      {!isOpen && <ArchiveAction run={run} />}
    </>
  );
}

function ArchiveAction({ run }: { run: Schemas["Run"] }) {
  const archive = useArchiveRun(run.id, run.is_archived ? "restore" : "archive");
  return (
    <LoggedAction
      // Its texts change with the state: a dialog that closes must keep its own.
      key={String(run.is_archived)}
      action={run.is_archived ? "Restore" : "Archive"}
      question={run.is_archived ? "List this run again?" : "Archive this run?"}
      confirm={run.is_archived ? "Restore the run" : "Archive the run"}
      hasReason
      onConfirm={(by, reason) => archive.mutateAsync({ by, reason })}
    >
      {run.is_archived
        ? "The run will be listed again."
        : "The run will not be listed any more. It counts all the same, so no board changes."}
    </LoggedAction>
  );
}

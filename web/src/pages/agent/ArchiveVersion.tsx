import { useArchiveAgent } from "../../api/boards";
import type { Schemas } from "../../api/queries";
import { LoggedAction } from "../../ui/LoggedAction";

/** Archives the version of an agent that is shown, or lists it again. */
export function ArchiveVersion({ entry }: { entry: Schemas["BoardEntry"] }) {
  const { agent_id, agent_version, is_archived } = entry;
  const archive = useArchiveAgent(agent_id, agent_version, is_archived ? "restore" : "archive");
  return (
    <LoggedAction
      // Its texts change with the state: a dialog that closes must keep its own.
      key={String(is_archived)}
      action={is_archived ? "Restore" : "Archive"}
      question={
        is_archived ? `List version ${agent_version} again?` : `Archive version ${agent_version}?`
      }
      confirm={is_archived ? "Restore the version" : "Archive the version"}
      hasReason
      onConfirm={(by, reason) => archive.mutateAsync({ by, reason })}
    >
      {is_archived
        ? "The version will be listed on the boards again."
        : "The version will not be listed on the boards any more. It counts all the same, so the ranks of others do not change."}
    </LoggedAction>
  );
}

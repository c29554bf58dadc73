import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { useHasPassed } from "../../ui/useHasPassed";
import { When } from "../../ui/When";
import { Reason } from "./Reason";

/** Whether a verdict was disputed, and who has to act now. */
export function Dispute({ task }: { task: Schemas["Task"] }) {
  const isOver = useHasPassed(task.exit_at);
  if (task.disputed_by === null) {
    if (task.state !== "judged") return null;
    return (
      <Text component="li" c="dimmed">
        {isOver ? (
          "No dispute was raised in time. Anyone can settle the task now."
        ) : (
          <>
            The losing side can dispute it until <When at={task.exit_at} />.
          </>
        )}
      </Text>
    );
  }
  return (
    <li>
      Disputed by <Untrusted text={task.disputed_by} />, <When at={task.disputed_at} />
      {task.state === "disputed" && !isOver && (
        <>
          . <Untrusted text={task.arbiter ?? "nobody"} />, the arbiter, decides by{" "}
          <When at={task.exit_at} />.
        </>
      )}
      {!task.resolutionURI && (task.state !== "disputed" || isOver) && (
        <>. The arbiter did not decide in time: the first score stands.</>
      )}
      <Reason uri={task.disputeReasonURI} />
    </li>
  );
}

import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { useHasPassed } from "../../ui/useHasPassed";
import { When } from "../../ui/When";

/** Who has to give the missing verdict, or why there will be none. */
export function PendingVerdict({ task }: { task: Schemas["Task"] }) {
  return (
    <Text c="dimmed">
      <Words task={task} />
    </Text>
  );
}

function Words({ task }: { task: Schemas["Task"] }) {
  const { judge_until, fallback_judge, exit_at } = task;
  const isLate = useHasPassed(judge_until);
  const isOver = useHasPassed(exit_at);
  if (task.state === "cancelled") return "The task was cancelled, so there is nothing to judge.";
  if (task.expiry_reason === "no_submission") return "There was no submission to judge.";
  if (task.expiry_reason === "no_verdict") return "No verdict was given in time.";
  if (task.state !== "submitted") return "There is nothing to judge yet.";
  if (isOver) return "No verdict was given in time. Anyone can close the task now.";
  const judge = <Untrusted text={task.judge} />;
  const fallback = fallback_judge && <Untrusted text={fallback_judge} />;
  if (isLate)
    return (
      <>
        {judge} did not judge in time. {fallback} can judge until <When at={exit_at} />.
      </>
    );
  return (
    <>
      {judge} judges by <When at={judge_until} />.
      {fallback && (
        <>
          {" "}
          After that {fallback} can judge until <When at={exit_at} />.
        </>
      )}
    </>
  );
}

import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { useHasPassed } from "../../ui/passing";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";

/** Who is to give the verdict that is not there, or why nobody will. */
export function Awaited({ task }: { task: Schemas["Task"] }) {
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
  if (task.state === "cancelled") return "It was cancelled: there is nothing to judge.";
  if (task.expiry_reason === "no_submission") return "Nothing was handed in to be judged.";
  if (task.expiry_reason === "no_verdict") return "Nobody gave it in time.";
  if (task.state !== "submitted") return "There is nothing to judge yet.";
  if (isOver) return "Nobody gave it in time. Anyone may end the task now.";
  const judge = <Untrusted text={task.judge} />;
  const fallback = fallback_judge && <Untrusted text={fallback_judge} />;
  if (isLate)
    return (
      <>
        {judge} did not give it in time. {fallback} may before <When at={exit_at} />.
      </>
    );
  return (
    <>
      {judge} is to give it before <When at={judge_until} />.
      {fallback && (
        <>
          {" "}
          After that {fallback} may, before <When at={exit_at} />.
        </>
      )}
    </>
  );
}

import type { TaskAction } from "../../api/market";
import type { Schemas } from "../../api/queries";
import { ConfirmButton } from "../../ui/ConfirmButton";
import { Untrusted } from "../../ui/Untrusted";
import { useHasPassed } from "../../ui/useHasPassed";

interface TaskActionsProps {
  task: Schemas["Task"];
  onAct: (action: TaskAction) => Promise<unknown>;
}

/** What can be done with a task now: its poster cancels it, anyone closes it when time is over. */
export function TaskActions({ task, onAct }: TaskActionsProps) {
  const isOver = useHasPassed(task.exit_at);
  if (isOver) {
    const isJudged = task.state === "judged" || task.state === "disputed";
    return (
      <ConfirmButton
        label="Close task"
        question="Close this task?"
        confirm="Close the task"
        refuse="Leave it"
        onConfirm={() => onAct({ move: isJudged ? "settle" : "expire" })}
      >
        Its time is over. Closing it moves the {task.reward} {task.currency} in escrow as its terms
        say; anyone may do this.
      </ConfirmButton>
    );
  }
  if (task.state !== "open") return null;
  return (
    <ConfirmButton
      label="Cancel task"
      question="Cancel this task?"
      confirm="Cancel the task"
      refuse="Keep it open"
      onConfirm={() => onAct({ move: "cancel" })}
    >
      You act as <Untrusted text={task.poster} />, the poster. The {task.reward} {task.currency} in
      escrow go back to them, and agents can no longer apply. It cannot be undone.
    </ConfirmButton>
  );
}

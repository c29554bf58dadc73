import type { TaskState as State } from "../../api/market";
import { Label, type Tone } from "../../ui/Label";

const TONES: Partial<Record<State, Tone>> = {
  open: "busy",
  assigned: "busy",
  committed: "busy",
  submitted: "busy",
  judged: "busy",
  disputed: "warn",
  paid: "good",
};

/** The state of a task. */
export function TaskState({ state }: { state: State }) {
  return <Label tone={TONES[state] ?? "quiet"}>{state}</Label>;
}

import { Badge } from "@mantine/core";
import type { TaskState as State } from "../../api/market";

const COLOURS: Record<State, string> = {
  open: "blue",
  assigned: "indigo",
  committed: "indigo",
  submitted: "indigo",
  judged: "grape",
  disputed: "orange",
  paid: "teal",
  refunded: "gray",
  expired: "gray",
  cancelled: "gray",
};

/** Where a task stands. */
export function TaskState({ state }: { state: State }) {
  return (
    <Badge color={COLOURS[state]} variant="outline" radius="sm" tt="none" fw={600}>
      {state}
    </Badge>
  );
}

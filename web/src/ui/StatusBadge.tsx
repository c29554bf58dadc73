import { Badge } from "@mantine/core";
import type { components } from "../api/schema";

type Status = components["schemas"]["Run"]["status"];

const COLOURS: Record<Status, string> = {
  pending: "gray",
  running: "blue",
  awaiting_review: "grape",
  completed: "teal",
  failed: "red",
  cancelled: "gray",
};

/** The state of a run. */
export function StatusBadge({ status }: { status: Status }) {
  return (
    <Badge color={COLOURS[status]} variant="outline" radius="sm" tt="none" fw={600}>
      {status}
    </Badge>
  );
}

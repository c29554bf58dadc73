import { Paper, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { EventDetails } from "./EventDetails";
import classes from "./market.module.css";

interface HistoryProps {
  events: Schemas["MarketEvent"][];
  task: Schemas["Task"];
}

/** The history of a task, event by event. */
export function History({ events, task }: HistoryProps) {
  return (
    <Paper withBorder p="lg" component="section" aria-label="History">
      <Title order={2} size="h4" mb="sm">
        History
      </Title>
      <ol className={classes.story}>
        {events.map((event) => (
          <li key={event.id} className={classes.event}>
            <Text fw={600}>{inWords(event.kind)}</Text>
            <Text size="sm" c="dimmed">
              <When at={event.at} />
              {event.who && (
                <>
                  {" · "}
                  <Untrusted text={event.who} />
                </>
              )}
            </Text>
            {event.why && event.kind !== "Reorganised" && (
              <Text size="sm">
                <Untrusted text={event.why} />
              </Text>
            )}
            <EventDetails event={event} task={task} />
          </li>
        ))}
      </ol>
      {task.exit_at && (
        <Text size="sm" c="dimmed" mt="sm">
          From <When at={task.exit_at} /> on anyone can close the task, so that no money stays
          locked.
        </Text>
      )}
    </Paper>
  );
}

/** "TaskPosted" as "Task posted". */
function inWords(kind: string): string {
  if (kind === "Reorganised") return "Chain reorganised";
  const words = kind.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

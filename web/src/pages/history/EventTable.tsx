import { Table, Text, VisuallyHidden } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { ChevronRight } from "../../ui/icons";
import { count, score } from "../../ui/numbers";
import { boardHref } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import classes from "./EventTable.module.css";

type Event = Schemas["BoardEvent"];

const KINDS: Record<Schemas["BoardEventKind"], string> = {
  run_completed: "Run completed",
  run_ended: "Run ended, does not count",
  vote: "Rating",
  executions_reported: "Executions reported",
  task_executed: "Task executed",
  task_undone: "Task undone by the chain",
  tests_edited: "Tests edited",
  weights_changed: "Weights changed",
  default_changed: "Default suite changed",
  reported_ranked: "Ranking of reported runs changed",
  archived: "Archived",
  restored: "Restored",
  deleted: "Deleted",
  recalculated: "Scores recalculated",
  upgraded: "Upgraded from an earlier Arena",
};

/** Events of the boards; each leads to its run and to the board of that moment. */
export function EventTable({ events }: { events: Event[] }) {
  return (
    <WideTable isCards label="Events" minWidth={980}>
      <Head>
        <Table.Th role="columnheader">Event</Table.Th>
        <Table.Th role="columnheader">Agent</Table.Th>
        <Table.Th role="columnheader">Rank</Table.Th>
        <Table.Th role="columnheader">Benchmark</Table.Th>
        <Table.Th role="columnheader">Overall</Table.Th>
        <Table.Th role="columnheader">By</Table.Th>
        <Table.Th role="columnheader">When</Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {events.map((event) => (
          <EventRow key={event.number} event={event} />
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

function EventRow({ event }: { event: Event }) {
  const { before, after } = event;
  return (
    <Table.Tr role="row" className={classes.row}>
      <Cell place="title">
        <Text span size="sm" fw={600}>
          {event.run_id && event.kind !== "deleted" ? (
            <Link href={`/runs/${event.run_id}`}>{KINDS[event.kind]}</Link>
          ) : (
            KINDS[event.kind]
          )}
        </Text>
        <Text size="xs" c="dimmed" className={classes.reason}>
          <Untrusted text={event.reason} />
          {event.suite && !event.reason.includes(event.suite) && (
            <>
              {" · "}
              <Untrusted text={event.suite} />
            </>
          )}
        </Text>
      </Cell>
      <Cell
        label="Agent"
        className={classes.agent}
        data-empty={event.agent_id === null || undefined}
      >
        {event.agent_id === null ? (
          "–"
        ) : (
          <span>
            <Link href={`/agents/${encodeURIComponent(event.agent_id)}`}>
              <Untrusted text={event.agent_id} />
            </Link>{" "}
            {event.agent_version && <Untrusted text={event.agent_version} />}
          </span>
        )}
      </Cell>
      <Changed label="Rank" from={count(before?.rank)} to={count(after?.rank)} />
      <Changed
        label="Benchmark"
        from={score(before?.benchmark_score)}
        to={score(after?.benchmark_score)}
      />
      <Changed
        label="Overall"
        from={score(before?.overall_score)}
        to={score(after?.overall_score)}
      />
      <Cell label="By" data-empty={!event.by || undefined}>
        {event.by ? <Untrusted text={event.by} /> : "–"}
      </Cell>
      <Cell className={classes.when}>
        <When at={event.at} hasSeconds />
        <div>
          <Link href={boardHref({ suite: event.suite, at: event.at })}>
            Board then
            <VisuallyHidden> after event {event.number}</VisuallyHidden>
          </Link>
        </div>
      </Cell>
    </Table.Tr>
  );
}

/** A value before and after; one value if it stayed. */
function Changed({ label, from, to }: { label: string; from: string; to: string }) {
  if (from === to)
    return (
      <Cell label={label} data-empty={to === "–" || undefined}>
        <Text span size="sm" c="dimmed">
          {to}
        </Text>
      </Cell>
    );
  return (
    <Cell label={label}>
      <span className={classes.change}>
        {from}
        <ChevronRight />
        <VisuallyHidden>to</VisuallyHidden>
        <strong>{to}</strong>
      </span>
    </Cell>
  );
}

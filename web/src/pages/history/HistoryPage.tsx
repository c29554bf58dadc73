import { Button, Group, Select } from "@mantine/core";
import { useBoardLog, useSuites } from "../../api/boards";
import { useAgents } from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { boardHref } from "../../ui/suiteWords";
import { useFilters } from "../../ui/useFilters";
import { EventTable } from "./EventTable";

/** Every change of the boards, with its reason. */
export default function HistoryPage() {
  const [search, choose] = useFilters();
  const suite = search.get("suite") ?? undefined;
  const agentId = search.get("agent") ?? undefined;
  const suites = useSuites();
  const agents = useAgents();
  const log = useBoardLog({ suite, agentId });
  const events = log.data?.pages.flatMap((page) => page.events) ?? [];
  const names = suites.data?.suites.map((one) => one.suite) ?? [];
  const ids = agents.data?.agents.map((one) => one.id) ?? [];
  return (
    <Page
      title="Board history"
      before={<BackLink href={boardHref({ suite })}>Leaderboard</BackLink>}
      lead="Every change of a board with its reason, newest first. Ranks and scores are those on the default board, before and after."
    >
      <Group gap="sm" align="flex-end">
        <Select
          label="Suite"
          placeholder="All suites"
          clearable
          clearButtonProps={{ "aria-label": "All suites" }}
          data={options(names, suite)}
          value={suite ?? null}
          onChange={(value) => choose({ suite: value })}
        />
        <Select
          label="Agent"
          placeholder="All agents"
          clearable
          searchable
          clearButtonProps={{ "aria-label": "All agents" }}
          data={options([...ids].sort(), agentId)}
          value={agentId ?? null}
          onChange={(value) => choose({ agent: value })}
        />
      </Group>
      {log.isPending && <Loading what="the history" />}
      {log.error && <ProblemNote error={log.error} onRetry={() => log.refetch()} />}
      {log.data && events.length === 0 && (
        <EmptyNote title={suite || agentId ? "No matching events" : "No events yet"}>
          {suite || agentId
            ? "No event of a board matches this suite and agent."
            : "The first run, rating or reported execution will be the first line here."}
        </EmptyNote>
      )}
      {events.length > 0 && <EventTable events={events} />}
      {log.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={log.isFetchingNextPage}
            onClick={() => log.fetchNextPage()}
          >
            Show older events
          </Button>
        </Group>
      )}
    </Page>
  );
}

/** The options: all known values, and the one in the address. */
function options(known: string[], chosen = ""): string[] {
  return [...new Set([...known, chosen])].filter(Boolean);
}

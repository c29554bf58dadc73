import { Button, Group, Select, Switch } from "@mantine/core";
import { Link } from "wouter";
import { useSuites } from "../../api/boards";
import { type RunStatus, useAgents, useRuns } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { useFilters } from "../../ui/useFilters";
import { NewRun } from "./NewRun";
import { RunTable } from "./RunTable";

const STATUSES: RunStatus[] = [
  "pending",
  "running",
  "awaiting_review",
  "completed",
  "failed",
  "budget_exceeded",
  "cancelled",
];

/** The runs, newest first, with live progress. */
export default function BenchmarksPage() {
  const [search, choose] = useFilters();
  const agentId = search.get("agent") ?? undefined;
  const status = STATUSES.find((one) => one === search.get("status"));
  const suite = search.get("suite") ?? undefined;
  const archived = search.get("archived") === "true" || undefined;
  const agents = useAgents();
  const suites = useSuites();
  const runs = useRuns({ agentId, status, suite, archived });
  const rows = runs.data?.pages.flatMap((page) => page.runs) ?? [];
  const names = new Set([...(suites.data?.suites.map((one) => one.suite) ?? []), suite ?? ""]);
  const ids = new Set([...(agents.data?.agents.map((agent) => agent.id) ?? []), agentId ?? ""]);

  return (
    <Page
      title="Benchmarks"
      lead="Every run of your team: one agent version against the tests that apply to it."
      actions={<NewRun agents={agents.data?.agents ?? []} suites={[...names].filter(Boolean)} />}
    >
      <Group gap="sm" align="flex-end">
        <Select
          label="Agent"
          placeholder="All agents"
          clearable
          clearButtonProps={{ "aria-label": "All agents" }}
          data={[...ids].filter(Boolean).sort()}
          value={agentId ?? null}
          onChange={(value) => choose({ agent: value })}
        />
        <Select
          label="Status"
          placeholder="Any status"
          clearable
          clearButtonProps={{ "aria-label": "Any status" }}
          data={STATUSES.map((value) => ({ value, label: value.replace("_", " ") }))}
          value={status ?? null}
          onChange={(value) => choose({ status: value })}
        />
        <Select
          label="Suite"
          placeholder="All suites"
          clearable
          clearButtonProps={{ "aria-label": "All suites" }}
          data={[...names].filter(Boolean)}
          value={suite ?? null}
          onChange={(value) => choose({ suite: value })}
        />
        <Switch
          label="Include archived"
          checked={archived ?? false}
          onChange={(event) => choose({ archived: event.currentTarget.checked ? "true" : null })}
          mb={8}
        />
      </Group>
      {runs.isPending && <Loading what="the runs" />}
      {runs.error && <ProblemNote error={runs.error} onRetry={() => runs.refetch()} />}
      {runs.data && rows.length === 0 && (
        <NoRuns isFiltered={Boolean(agentId || status || suite)} />
      )}
      {rows.length > 0 && <RunTable runs={rows} />}
      {runs.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={runs.isFetchingNextPage}
            onClick={() => runs.fetchNextPage()}
          >
            Show older runs
          </Button>
        </Group>
      )}
    </Page>
  );
}

function NoRuns({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyNote
        title="No matching runs"
        action={
          <Button component={Link} href="/benchmarks" variant="default">
            Show all runs
          </Button>
        }
      >
        No run of your team matches this filter.
      </EmptyNote>
    );
  return (
    <EmptyNote
      title="No benchmarks yet"
      action={
        <Button component={Link} href="/">
          View agents
        </Button>
      }
    >
      Choose an agent and press Benchmark: its tests run one by one, and every answer is kept here
      with its findings. In a terminal: <code>arena run AGENT</code>.
    </EmptyNote>
  );
}

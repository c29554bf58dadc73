import { Button, Group, SegmentedControl, Select, Switch, Text, Title } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { type Schemas, useResults } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { filterIn, queryOf } from "./filter";
import { ResultRows } from "./ResultRows";

interface ResultsProps {
  run: Schemas["Run"];
  details: Schemas["RunDetails"];
}

/** The results of a run; the filter is part of the address. */
export function Results({ run, details }: ResultsProps) {
  const [search, setSearch] = useSearchParams();
  const filter = filterIn(search);
  const results = useResults(run.id, filter);
  const rows = results.data?.pages.flatMap((page) => page.results) ?? [];
  const total = results.data?.pages[0]?.total ?? 0;
  const awaiting = details.categories.some((one) => one.awaiting > 0);
  const isFiltered = Boolean(filter.outcome || filter.category || filter.flaky);
  const change = (name: string, value: string | null) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      if (value) after.set(name, value);
      else after.delete(name);
      return after;
    });

  return (
    <section aria-label="Results">
      <Group justify="space-between" align="flex-end" mb="sm" gap="sm">
        <div>
          <Title order={2} size="h4">
            Results
          </Title>
          <Text size="sm" c="dimmed" role="status">
            {amount(total, "result")} {isFiltered ? "match the filter" : "in total"}
          </Text>
        </div>
        <Group gap="sm" align="flex-end">
          <SegmentedControl
            aria-label="Outcome"
            transitionDuration={0}
            data={[
              { value: "", label: "All" },
              { value: "failed", label: "Failed" },
              { value: "passed", label: "Passed" },
              ...(awaiting || filter.outcome === "awaiting"
                ? [{ value: "awaiting", label: "Awaiting" }]
                : []),
            ]}
            value={filter.outcome ?? ""}
            onChange={(value) => change("outcome", value)}
          />
          <Select
            aria-label="Category"
            placeholder="All categories"
            clearable
            clearButtonProps={{ "aria-label": "All categories" }}
            data={details.categories.map((one) => one.category)}
            value={filter.category ?? null}
            onChange={(value) => change("category", value)}
            w={180}
          />
          {details.trials && (
            <Switch
              label="Flaky only"
              checked={filter.flaky ?? false}
              onChange={(event) => change("flaky", event.currentTarget.checked ? "true" : null)}
            />
          )}
        </Group>
      </Group>
      {results.isPending && <Loading what="the results" />}
      {results.error && <ProblemNote error={results.error} onRetry={() => results.refetch()} />}
      {results.data && total === 0 && (
        <EmptyNote
          title={isFiltered ? "No matching results" : "No results yet"}
          action={
            isFiltered && (
              <Button component={Link} href={`/runs/${run.id}`} variant="default">
                Show all results
              </Button>
            )
          }
        >
          {isFiltered
            ? "No result of this run matches the filter."
            : "They appear as the tests run."}
        </EmptyNote>
      )}
      {total > 0 && (
        <ResultRows
          runId={run.id}
          query={queryOf(filter)}
          rows={rows}
          total={total}
          hasTrials={details.trials !== null}
          isStale={results.isPlaceholderData}
          onNeedMore={() => {
            if (results.hasNextPage && !results.isFetching) void results.fetchNextPage();
          }}
        />
      )}
    </section>
  );
}

import { Button, Group, Select } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { useAudit, useCatalogState, useTests } from "../../api/catalog";
import { EmptyNote } from "../../ui/EmptyNote";
import { Facts } from "../../ui/Facts";
import { Loading } from "../../ui/Loading";
import { count } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { When } from "../../ui/When";
import { AuditCard } from "./AuditCard";
import { FileProblems } from "./FileProblems";
import { SourceTable } from "./SourceTable";
import { TestTable } from "./TestTable";

/** All tests, the problems in their files, and the audit. */
export function CatalogView() {
  const [search, setSearch] = useSearchParams();
  const filter = {
    category: search.get("category") ?? undefined,
    tag: search.get("tag") ?? undefined,
  };
  const state = useCatalogState();
  const tests = useTests(filter);
  const audit = useAudit();
  const rows = tests.data?.pages.flatMap((page) => page.tests) ?? [];
  const total = tests.data?.pages[0]?.total;
  const choose = (name: string, value: string | null) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      if (value) after.set(name, value);
      else after.delete(name);
      return after;
    });

  return (
    <Page
      title="Catalog"
      lead="The tests that agents run. Edited files are reloaded automatically, without a restart."
    >
      {state.error && <ProblemNote error={state.error} onRetry={() => state.refetch()} />}
      {state.data && (
        <>
          <Facts
            facts={[
              { label: "Tests", value: count(state.data.tests) },
              { label: "Files", value: count(state.data.sources.length) },
              { label: "Problems", value: count(state.data.problems.length) },
              { label: "Weak tests", value: weak(audit.data), note: auditNote(audit.data) },
              { label: "Loaded", value: <When at={state.data.loaded_at} /> },
            ]}
          />
          <FileProblems problems={state.data.problems} sources={state.data.sources} />
        </>
      )}
      <AuditCard audit={audit.data} error={audit.error} />
      <Group gap="sm" align="flex-end">
        <Select
          label="Category"
          placeholder="All categories"
          clearable
          clearButtonProps={{ "aria-label": "All categories" }}
          data={withChosen(state.data?.categories, filter.category)}
          value={filter.category ?? null}
          onChange={(value) => choose("category", value)}
        />
        <Select
          label="Tag"
          placeholder="All tags"
          clearable
          clearButtonProps={{ "aria-label": "All tags" }}
          data={withChosen(state.data?.tags, filter.tag)}
          value={filter.tag ?? null}
          onChange={(value) => choose("tag", value)}
        />
      </Group>
      {tests.isPending && <Loading what="the tests" />}
      {tests.error && <ProblemNote error={tests.error} onRetry={() => tests.refetch()} />}
      {total === 0 && <NoTests isFiltered={Boolean(filter.category || filter.tag)} />}
      {rows.length > 0 && (
        <TestTable
          tests={rows}
          total={total ?? rows.length}
          findings={audit.data?.findings ?? []}
        />
      )}
      {tests.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={tests.isFetchingNextPage}
            onClick={() => tests.fetchNextPage()}
          >
            Show more tests
          </Button>
        </Group>
      )}
      {state.data && <SourceTable sources={state.data.sources} />}
    </Page>
  );
}

type AuditData = ReturnType<typeof useAudit>["data"];

function weak(audit: AuditData): string {
  return audit ? count(new Set(audit.findings.map((one) => one.test_id)).size) : "–";
}

function auditNote(audit: AuditData): string | undefined {
  if (!audit) return undefined;
  return audit.pending ? `${count(audit.pending)} not audited yet` : "found by the audit";
}

/** The options: all known values, and the one in the address. */
function withChosen(known: string[] = [], chosen = ""): string[] {
  return [...new Set([...known, chosen])].filter(Boolean);
}

function NoTests({ isFiltered }: { isFiltered: boolean }) {
  return (
    <EmptyNote
      title={isFiltered ? "No matching tests" : "No tests"}
      action={
        isFiltered && (
          <Button component={Link} href="/catalog" variant="default">
            Show all tests
          </Button>
        )
      }
    >
      {isFiltered ? (
        "No test has this category and this tag."
      ) : (
        <>
          Put a YAML file into <code>ARENA_HOME/benchmarks</code>, or start the server with{" "}
          <code>--tests FOLDER</code>.
        </>
      )}
    </EmptyNote>
  );
}

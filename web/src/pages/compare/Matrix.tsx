import { Button, Group, Switch, Text, Title } from "@mantine/core";
import { useSearchParams } from "wouter";
import { useMatrix } from "../../api/compare";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { MatrixTable } from "./MatrixTable";
import { named } from "./words";

/** Tests against agents; whether only the differences are shown is part of the address. */
export function Matrix({ agents, suite }: { agents: string[]; suite?: string }) {
  const [search, setSearch] = useSearchParams();
  const isDiffering = search.get("differing") === "true";
  const matrix = useMatrix(agents, isDiffering, suite);
  const first = matrix.data?.pages[0];
  const rows = matrix.data?.pages.flatMap((page) => page.rows) ?? [];
  const show = (onlyDiffering: boolean) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      if (onlyDiffering) after.set("differing", "true");
      else after.delete("differing");
      return after;
    });

  return (
    <section aria-label="Test by test">
      <Group justify="space-between" align="flex-end" mb="sm" gap="sm">
        <div>
          <Title order={2} size="h4">
            Test by test
          </Title>
          {first && (
            <Text size="sm" c="dimmed" role="status">
              They differ on {first.differing} of {amount(first.tests, "test")}
            </Text>
          )}
        </div>
        <Switch
          label="Only where they differ"
          checked={isDiffering}
          onChange={(event) => show(event.currentTarget.checked)}
        />
      </Group>
      {first && first.without_run.length > 0 && (
        <Text mb="sm">
          Not shown, without a completed full run:{" "}
          <Untrusted text={first.without_run.map(named).join(", ")} />
        </Text>
      )}
      {matrix.isPending && <Loading what="the tests" />}
      {matrix.error && <ProblemNote error={matrix.error} onRetry={() => matrix.refetch()} />}
      {first && rows.length === 0 && (
        <EmptyNote
          title={isDiffering && first.tests > 0 ? "No differences" : "No tests to show"}
          action={
            isDiffering && (
              <Button variant="default" onClick={() => show(false)}>
                Show all tests
              </Button>
            )
          }
        >
          {first.tests > 0
            ? "They did equally well on every test that more than one of them ran."
            : "None of these agents has a completed full run."}
        </EmptyNote>
      )}
      {first && rows.length > 0 && <MatrixTable agents={first.agents} rows={rows} />}
      {matrix.hasNextPage && (
        <Group justify="center" mt="sm">
          <Button
            variant="default"
            loading={matrix.isFetchingNextPage}
            onClick={() => matrix.fetchNextPage()}
          >
            Show more tests
          </Button>
        </Group>
      )}
    </section>
  );
}

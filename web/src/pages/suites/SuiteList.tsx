import { Button, Table, Text, VisuallyHidden } from "@mantine/core";
import { Link } from "wouter";
import { useSuites } from "../../api/boards";
import type { Schemas } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Label } from "../../ui/Label";
import { Loading } from "../../ui/Loading";
import { count } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { boardHref, suiteHref, versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";

/** Every suite, with a link to its board. */
export function SuiteList() {
  const { data, error, isPending, refetch } = useSuites();
  return (
    <Page
      title="Suites"
      lead="Tests that are measured together. Each suite has a board of its own, and an edited test makes a new version of its suite."
    >
      {isPending && <Loading what="the suites" />}
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      {data?.count === 0 && (
        <EmptyNote
          title="No suites"
          action={
            <Button component={Link} href="/catalog">
              View the catalog
            </Button>
          }
        >
          A suite appears as soon as there is a test.
        </EmptyNote>
      )}
      {data && data.count > 0 && (
        <div>
          <SuiteTable suites={data.suites} />
          <Text size="sm" c="dimmed" mt="xs">
            {data.ranks_reported
              ? "Runs that are reported from elsewhere are ranked here."
              : "Runs that are reported from elsewhere are listed, but not ranked."}
          </Text>
        </div>
      )}
    </Page>
  );
}

function SuiteTable({ suites }: { suites: Schemas["SuiteRow"][] }) {
  return (
    <WideTable isCards label="Suites" minWidth={640}>
      <Head>
        <Table.Th role="columnheader">Suite</Table.Th>
        <Table.Th role="columnheader">Board</Table.Th>
        <Table.Th role="columnheader">Version</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Tests
        </Table.Th>
        <Table.Th role="columnheader" ta="right">
          Agents on its board
        </Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {suites.map((row) => (
          <Table.Tr role="row" key={row.suite}>
            <Cell place="title">
              <Link href={suiteHref(row.suite)}>
                <strong>
                  <Untrusted text={row.suite} />
                </strong>
              </Link>{" "}
              {row.is_default && <Label tone="good">default</Label>}
            </Cell>
            <Cell place="beside">
              {row.shown_version ? (
                <Link href={boardHref({ suite: row.suite })}>
                  View board
                  <VisuallyHidden>{` of ${row.suite}`}</VisuallyHidden>
                </Link>
              ) : (
                <Text span size="sm" c="dimmed">
                  no complete run yet
                </Text>
              )}
            </Cell>
            <Cell label="Version">
              <Version row={row} />
            </Cell>
            <Cell label="Tests" ta="right">
              {row.version ? count(row.tests) : "–"}
            </Cell>
            <Cell label="Agents" ta="right">
              {count(row.agents)}
            </Cell>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

/** The version of its files, and the one on its board if that is another. */
function Version({ row }: { row: Schemas["SuiteRow"] }) {
  if (!row.version) return <>no longer in the catalog</>;
  const isOther = row.shown_version !== null && row.shown_version !== row.version;
  return (
    <span>
      <span title={row.version}>
        <Untrusted text={versionName(row.version, row.label)} />
      </span>
      {isOther && (
        <Text size="xs" c="dimmed">
          its board shows {versionName(row.shown_version ?? "")}
        </Text>
      )}
    </span>
  );
}

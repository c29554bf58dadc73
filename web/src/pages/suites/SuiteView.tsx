import { Button, Group, Table, Text, Title, VisuallyHidden } from "@mantine/core";
import { Link } from "wouter";
import { useChooseDefault, useSuite } from "../../api/boards";
import type { Schemas } from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { Facts } from "../../ui/Facts";
import { Label } from "../../ui/Label";
import { Loading } from "../../ui/Loading";
import { LoggedAction } from "../../ui/LoggedAction";
import { amount, count } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { boardHref, versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { DiffCard } from "./DiffCard";
import { QualityCard } from "./QualityCard";

/** One suite: its versions, how they differ, and its weak tests. */
export function SuiteView({ suite }: { suite: string }) {
  const { data, error, refetch } = useSuite(suite);
  const back = <BackLink href="/suites">All suites</BackLink>;
  if (!data)
    return (
      <Page title={suite} before={back}>
        {error ? (
          <ProblemNote error={error} onRetry={() => refetch()} />
        ) : (
          <Loading what="the suite" />
        )}
      </Page>
    );
  const { suite: row, versions, quality } = data;
  return (
    <Page
      title={suite}
      tabTitle={`Suite ${suite}`}
      before={back}
      lead={
        row.is_default ? (
          <>
            <Label tone="good">default</Label> Its board is shown first.
          </>
        ) : undefined
      }
      actions={
        row.shown_version && (
          <>
            <Button component={Link} href={boardHref({ suite })}>
              View board
            </Button>
            {!row.is_default && <MakeDefault suite={suite} />}
          </>
        )
      }
    >
      <Facts
        facts={[
          {
            label: "Tests",
            value: row.version ? count(row.tests) : "–",
            note: row.version ? "active in the catalog" : "no longer in the catalog",
          },
          {
            label: "On its board",
            value: amount(row.agents, "agent"),
            note: row.shown_version
              ? row.shown_version === row.version
                ? "of this version"
                : `of version ${versionName(row.shown_version)}`
              : "no complete run yet",
          },
          {
            label: "Version",
            value: row.version ? versionName(row.version, row.label) : "–",
            note: row.label && row.version ? versionName(row.version) : undefined,
            isWide: true,
          },
        ]}
      />
      <Versions suite={suite} versions={versions} />
      {versions.length > 0 && <DiffCard details={data} />}
      {quality && <QualityCard quality={quality} />}
    </Page>
  );
}

function MakeDefault({ suite }: { suite: string }) {
  const choose = useChooseDefault(suite);
  return (
    <LoggedAction
      action="Make default"
      question={`Make ${suite} the default suite?`}
      confirm="Make default"
      onConfirm={(by) => choose.mutateAsync(by)}
    >
      The leaderboard then shows this suite first, and an agent's score comes from it.
    </LoggedAction>
  );
}

interface VersionsProps {
  suite: string;
  versions: Schemas["SuiteVersionRow"][];
}

function Versions({ suite, versions }: VersionsProps) {
  return (
    <section aria-label="Versions">
      <Title order={2} size="h4" mb="xs">
        Versions
      </Title>
      {versions.length === 0 ? (
        <Text c="dimmed">No version of this suite was run yet.</Text>
      ) : (
        <WideTable isCards label="Versions" minWidth={640}>
          <Head>
            <Table.Th role="columnheader">Version</Table.Th>
            <Table.Th role="columnheader">Board</Table.Th>
            <Table.Th role="columnheader" ta="right">
              Tests
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Agents
            </Table.Th>
            <Table.Th role="columnheader">Current since</Table.Th>
          </Head>
          <Table.Tbody role="rowgroup">
            {versions.map((one) => (
              <Table.Tr role="row" key={one.version}>
                <Cell place="title">
                  <Group gap="xs">
                    <span title={one.version}>
                      <Untrusted text={versionName(one.version, one.label)} />
                    </span>
                    {one.is_shown && <Label tone="good">shown</Label>}
                    {one.is_newer && <Label tone="warn">newer, no complete run</Label>}
                  </Group>
                </Cell>
                <Cell place="beside">
                  {one.agents > 0 && (
                    <Link href={boardHref({ suite, version: one.version })}>
                      View board
                      <VisuallyHidden>
                        {` of version ${versionName(one.version, one.label)}`}
                      </VisuallyHidden>
                    </Link>
                  )}
                </Cell>
                <Cell label="Tests" ta="right">
                  {count(one.tests)}
                </Cell>
                <Cell label="Agents" ta="right">
                  {count(one.agents)}
                </Cell>
                <Cell label="Current since">
                  <When at={one.current_since} />
                </Cell>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      )}
    </section>
  );
}

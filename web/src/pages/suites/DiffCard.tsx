import { Group, Paper, Select, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import { useSuiteDiff } from "../../api/boards";
import type { Schemas } from "../../api/queries";
import { Loading } from "../../ui/Loading";
import { amount } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { useFilters } from "../../ui/useFilters";
import classes from "./suites.module.css";

/** Names the version that the files of a suite are now. */
const CURRENT = "current";

/** Which tests differ between two versions; both are part of the address. */
export function DiffCard({ details }: { details: Schemas["SuiteDetails"] }) {
  const { suite, versions } = details;
  const [search, choose] = useFilters();
  const options = versions.map(({ version, label }) => ({
    value: version,
    label: versionName(version, label),
  }));
  const isHere = suite.version !== null;
  const later = isHere ? [{ value: CURRENT, label: "the files now" }, ...options] : options;
  const after = search.get("after") ?? later[0]?.value ?? CURRENT;
  const afterVersion = after === CURRENT ? suite.version : after;
  const other = versions.find((one) => one.version !== afterVersion);
  const before = search.get("before") ?? other?.version ?? null;
  const diff = useSuiteDiff(suite.suite, before, after);
  return (
    <Paper withBorder p="lg" component="section" aria-label="Differences">
      <Title order={2} size="h4" mb="xs">
        Differences
      </Title>
      {before === null ? (
        <Text c="dimmed">There is only one version so far.</Text>
      ) : (
        <>
          <Group gap="sm" align="flex-end" mb="md">
            <Select
              label="From"
              allowDeselect={false}
              data={options}
              value={before}
              onChange={(value) => choose({ before: value })}
            />
            <Select
              label="To"
              allowDeselect={false}
              data={later}
              value={after}
              onChange={(value) => choose({ after: value })}
            />
          </Group>
          {diff.isPending && <Loading what="the differences" rows={2} />}
          {diff.error && <ProblemNote error={diff.error} onRetry={() => diff.refetch()} />}
          {diff.data && <Difference diff={diff.data} isCurrent={after === CURRENT} />}
        </>
      )}
    </Paper>
  );
}

function Difference({ diff, isCurrent }: { diff: Schemas["SuiteDiff"]; isCurrent: boolean }) {
  const { added, removed, edited, same } = diff;
  return (
    <>
      <Text role="status">
        {amount(added.length, "test")} added, {removed.length} removed, {edited.length} edited;{" "}
        {amount(same, "test")} unchanged.
      </Text>
      <Tests title="Added" ids={added.map((id) => ({ id }))} isLinked={isCurrent} />
      <Tests title="Removed" ids={removed.map((id) => ({ id }))} isLinked={false} />
      <Tests
        title="Edited"
        ids={edited.map(({ test_id, keys }) => ({ id: test_id, note: keys.join(", ") }))}
        isLinked
      />
    </>
  );
}

interface TestsProps {
  title: string;
  ids: { id: string; note?: string }[];
  /** A test that is not in the catalog has no page. */
  isLinked: boolean;
}

function Tests({ title, ids, isLinked }: TestsProps) {
  if (ids.length === 0) return null;
  return (
    <>
      <Title order={3} size="h5" mt="md">
        {title}
      </Title>
      <ul className={classes.tests}>
        {ids.map(({ id, note }) => (
          <li key={id}>
            {isLinked ? (
              <Link href={`/catalog/tests/${encodeURIComponent(id)}`}>
                <Untrusted text={id} />
              </Link>
            ) : (
              <Untrusted text={id} />
            )}
            {note && (
              <Text span size="sm" c="dimmed">
                {": "}
                <Untrusted text={note} />
              </Text>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

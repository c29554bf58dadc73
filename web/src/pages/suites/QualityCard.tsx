import { Paper, Table, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Label } from "../../ui/Label";
import { amount, count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { useFew } from "../../ui/useFew";
import { Cell, Head, WideTable } from "../../ui/WideTable";

/** Rows at first. */
const MOST = 20;

const WEAKNESSES: Record<Schemas["Weakness"], { name: string; meaning: string }> = {
  saturated: { name: "saturated", meaning: "every agent passes it" },
  dead: { name: "dead", meaning: "no agent passes it" },
  non_discriminating: {
    name: "non-discriminating",
    meaning: "barely separates strong agents from weak ones",
  },
};

/** The tests that say little about agents. */
export function QualityCard({ quality }: { quality: Schemas["SuiteQuality"] }) {
  const { tests, agents, weak, too_few_agents } = quality;
  const { shown, note } = useFew(weak, MOST);
  return (
    <Paper withBorder p="lg" component="section" aria-label="Weak tests">
      <Title order={2} size="h4">
        Weak tests
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        {count(weak.length)} of {amount(tests, "test")} say little about agents, judged by the runs
        of {amount(agents, "agent")} on the board.
        {too_few_agents.length > 0 &&
          ` Nothing can be said yet about ${amount(too_few_agents.length, "test")} that fewer than two agents ran.`}
      </Text>
      {weak.length > 0 && (
        <WideTable isCards label="Weak tests" minWidth={680}>
          <Head>
            <Table.Th role="columnheader">Test</Table.Th>
            <Table.Th role="columnheader">Weakness</Table.Th>
            <Table.Th role="columnheader" ta="right">
              Trials passed
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Agents
            </Table.Th>
            <Table.Th role="columnheader" ta="right">
              Discrimination
            </Table.Th>
          </Head>
          <Table.Tbody role="rowgroup">
            {shown.map((test) => (
              <WeakRow key={test.test_id} test={test} />
            ))}
          </Table.Tbody>
        </WideTable>
      )}
      {note}
    </Paper>
  );
}

function WeakRow({ test }: { test: Schemas["WeakTest"] }) {
  const { name, meaning } = WEAKNESSES[test.weakness];
  return (
    <Table.Tr role="row">
      <Cell place="title">
        <Link href={`/catalog/tests/${encodeURIComponent(test.test_id)}`}>
          <Untrusted text={test.test_id} />
        </Link>
      </Cell>
      <Cell>
        <span>
          <strong>{name}</strong>
          {test.is_reversed && (
            <>
              {" "}
              <Label tone="bad">reversed</Label>
            </>
          )}
          <Text span size="sm" c="dimmed">
            {": "}
            {test.is_reversed ? "weak agents pass it more often, check its standard" : meaning}
          </Text>
        </span>
      </Cell>
      <Cell label="Trials passed" ta="right">
        {count(test.passed)} of {count(test.trials)}
      </Cell>
      <Cell label="Agents" ta="right">
        {count(test.agents)}
      </Cell>
      <Cell label="Discrimination" ta="right">
        {test.discrimination === null ? "–" : test.discrimination.toFixed(2)}
      </Cell>
    </Table.Tr>
  );
}

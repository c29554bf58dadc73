import { Badge, Group, Table, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { amount, count, seconds } from "../../ui/numbers";
import { inWords } from "../../ui/standard/reading";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import classes from "./catalog.module.css";

interface TestTableProps {
  tests: Schemas["Test"][];
  total: number;
  findings: Schemas["AuditFinding"][];
}

/** The tests; each name links to its test. */
export function TestTable({ tests, total, findings }: TestTableProps) {
  const weak = new Set(findings.map((finding) => finding.test_id));
  return (
    <section aria-label="Tests">
      <Title order={2} size="h4">
        Tests
      </Title>
      <Text size="sm" c="dimmed" mb="sm" role="status">
        {amount(total, "test")}
        {tests.length < total && `, the first ${count(tests.length)} shown`}
      </Text>
      <WideTable isCards label="Tests" minWidth={760}>
        <Head>
          <Table.Th role="columnheader">Test</Table.Th>
          <Table.Th role="columnheader">Category</Table.Th>
          <Table.Th role="columnheader">Standard</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Points
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Timeout
          </Table.Th>
          <Table.Th role="columnheader">Agents</Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {tests.map((test) => (
            <Table.Tr
              role="row"
              key={test.test_id}
              className={test.active ? undefined : classes.inactive}
            >
              <Cell place="title">
                <Link href={`/catalog/tests/${encodeURIComponent(test.test_id)}`}>
                  <Untrusted text={test.name} />
                </Link>
                <Text size="xs" c="dimmed">
                  {test.test_id}
                  {!test.active && " · inactive"}
                  {weak.has(test.test_id) && (
                    <>
                      {" · "}
                      <span className={classes.weak}>weak</span>
                    </>
                  )}
                </Text>
              </Cell>
              <Cell place="beside">
                <Untrusted text={test.category} />
                {test.tags.length > 0 && (
                  <Group gap={4} mt={2}>
                    {test.tags.map((tag) => (
                      <Badge key={tag} variant="default" size="sm" radius="sm" tt="none">
                        {tag}
                      </Badge>
                    ))}
                  </Group>
                )}
              </Cell>
              <Cell label="Standard">{inWords(test.validation_type)}</Cell>
              <Cell label="Points" ta="right">
                {test.points}
              </Cell>
              <Cell label="Timeout" ta="right">
                {seconds(test.timeout_seconds)}
              </Cell>
              <Cell label="Agents">
                <Text size="sm" lineClamp={2} title={agentsOf(test)}>
                  <Untrusted text={agentsOf(test)} />
                </Text>
              </Cell>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

/** The agents a test applies to. */
export function agentsOf(test: Schemas["Test"]): string {
  const agents = test.applicable_agent_types;
  return agents === null ? "every agent" : agents.join(", ") || "no agent";
}

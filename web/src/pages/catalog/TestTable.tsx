import { Badge, Group, Table, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { amount, count, seconds } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";
import classes from "./catalog.module.css";
import { inWords } from "./reading";

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
      <WideTable label="Tests" minWidth={760}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Test</Table.Th>
            <Table.Th>Category</Table.Th>
            <Table.Th>Standard</Table.Th>
            <Table.Th ta="right">Points</Table.Th>
            <Table.Th ta="right">Timeout</Table.Th>
            <Table.Th>Agents</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {tests.map((test) => (
            <Table.Tr key={test.test_id} className={test.active ? undefined : classes.inactive}>
              <Table.Td>
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
              </Table.Td>
              <Table.Td>
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
              </Table.Td>
              <Table.Td>{inWords(test.validation_type)}</Table.Td>
              <Table.Td ta="right">{test.points}</Table.Td>
              <Table.Td ta="right">{seconds(test.timeout_seconds)}</Table.Td>
              <Table.Td>
                <Text size="sm" lineClamp={2} title={agentsOf(test)}>
                  <Untrusted text={agentsOf(test)} />
                </Text>
              </Table.Td>
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

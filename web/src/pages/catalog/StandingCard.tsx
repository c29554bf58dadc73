import { Paper, Table, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Facts } from "../../ui/Facts";
import { amount, percent, range } from "../../ui/numbers";
import { Outcome } from "../../ui/Outcome";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

const TELLS = 0.3;

/** The test's results by agent, and whether it separates strong agents from weak ones. */
export function StandingCard({ standing }: { standing: Schemas["Standing"] }) {
  const { rows, counted, pass_percent, interval, discrimination } = standing;
  return (
    <Paper withBorder p="lg" component="section" aria-label="Statistics">
      <Title order={2} size="h4">
        Statistics
      </Title>
      {rows.length === 0 ? (
        <Text c="dimmed">No agent of your team has completed a full run with this test yet.</Text>
      ) : (
        <>
          <Text size="sm" c="dimmed" mb="sm">
            From the latest full run of each agent version.
          </Text>
          <Facts
            facts={[
              { label: "Passed", value: percent(pass_percent), note: range(interval) },
              { label: "Tested", value: amount(counted, "agent") },
              {
                label: "Discrimination",
                value: discrimination === null ? "–" : discrimination.toFixed(2),
                note: inWords(discrimination),
              },
            ]}
          />
          <Rows rows={rows} />
        </>
      )}
    </Paper>
  );
}

function Rows({ rows }: { rows: Schemas["StandingRow"][] }) {
  return (
    <div style={{ marginTop: "1rem" }}>
      <WideTable label="Agents and this test" minWidth={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Agent</Table.Th>
            <Table.Th>This test</Table.Th>
            <Table.Th ta="right">Rest of the run</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map((row) => (
            <Table.Tr key={`${row.agent_id}:${row.agent_version}`}>
              <Table.Td>
                <Link href={`/agents/${encodeURIComponent(row.agent_id)}`}>
                  <Untrusted text={row.agent_id} />
                </Link>{" "}
                {row.agent_version}
                {!row.is_current && (
                  <Text size="xs" c="dimmed">
                    before the test was edited
                  </Text>
                )}
              </Table.Td>
              <Table.Td>
                <Link href={`/runs/${row.run_id}/results/${row.result_id}`}>
                  <Outcome passed={row.passed === row.trials}>
                    {row.trials > 1 ? `${row.passed} of ${row.trials}` : undefined}
                  </Outcome>
                </Link>
              </Table.Td>
              <Table.Td ta="right">{percent(row.rest_percent)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </div>
  );
}

function inWords(discrimination: number | null): string {
  if (discrimination === null) return "needs three agents with different scores";
  if (discrimination >= TELLS) return "separates strong agents from weak ones";
  if (discrimination > -TELLS) return "barely separates agents";
  return "weak agents pass it more often: check the test";
}

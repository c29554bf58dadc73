import { Table, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { count, score } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { WideTable } from "../../ui/WideTable";
import { rate } from "./AgentTable";

interface ApplicantTableProps {
  applicants: Schemas["Applicant"][];
  chosen: string | null;
}

/** The applicants of a task, the best first. */
export function ApplicantTable({ applicants, chosen }: ApplicantTableProps) {
  return (
    <section aria-label="Applicants">
      <Title order={2} size="h4" mb="sm">
        Applicants
      </Title>
      <WideTable label="Applicants" minWidth={560}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th ta="right">Rank</Table.Th>
            <Table.Th>Agent</Table.Th>
            <Table.Th ta="right">Win rate</Table.Th>
            <Table.Th ta="right">Average score</Table.Th>
            <Table.Th ta="right">Judged</Table.Th>
            <Table.Th>Applied</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {applicants.map((one) => (
            <Table.Tr key={one.agent}>
              <Table.Td ta="right">{one.rank}</Table.Td>
              <Table.Td fw={one.agent === chosen ? 650 : undefined}>
                <Untrusted text={`${one.agent} ${one.version}`} />
                {one.agent === chosen && " · assigned"}
              </Table.Td>
              <Table.Td ta="right">{rate(one.reputation.win_rate)}</Table.Td>
              <Table.Td ta="right">{score(one.reputation.average_score)}</Table.Td>
              <Table.Td ta="right">{count(one.reputation.judged)}</Table.Td>
              <Table.Td>
                <When at={one.applied_at} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

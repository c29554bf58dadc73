import { Table } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { IntervalChart } from "../../charts/IntervalChart";
import { ChartCard } from "../../ui/ChartCard";
import { amount, score } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { useFew } from "../../ui/useFew";
import { WideTable } from "../../ui/WideTable";

/** Rows of the chart at first. */
const MOST = 15;

/** Overall scores with their confidence intervals. */
export function ScoreCard({ entries }: { entries: Schemas["BoardEntry"][] }) {
  const rows = entries.flatMap((entry) =>
    entry.overall_score === null
      ? []
      : {
          key: `${entry.agent_id}:${entry.agent_version}`,
          name: `${entry.agent_id} ${entry.agent_version}`,
          value: entry.overall_score,
          interval: entry.intervals.overall,
        },
  );
  const { shown, note } = useFew(rows, MOST);
  return (
    <ChartCard
      title="Confidence intervals"
      lead="The dot is the overall score; the bar is its confidence interval. Overlapping bars show no clear difference."
      chart={
        <>
          <IntervalChart
            rows={shown}
            label={`Overall scores of ${amount(shown.length, "agent")} with their intervals`}
          />
          {note}
        </>
      }
      table={
        <WideTable label="Overall scores with their intervals" minWidth={400}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Agent</Table.Th>
              <Table.Th ta="right">Overall</Table.Th>
              <Table.Th ta="right">From</Table.Th>
              <Table.Th ta="right">To</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.key}>
                <Table.Td>
                  <Untrusted text={row.name} />
                </Table.Td>
                <Table.Td ta="right">{score(row.value)}</Table.Td>
                <Table.Td ta="right">{score(row.interval?.low)}</Table.Td>
                <Table.Td ta="right">{score(row.interval?.high)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      }
    />
  );
}

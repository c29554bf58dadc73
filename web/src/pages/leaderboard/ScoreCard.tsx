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

/** Benchmark scores with their confidence intervals: ranked entries, then the others in grey. */
export function ScoreCard({ entries }: { entries: Schemas["BoardEntry"][] }) {
  const rows = entries
    .flatMap((entry) =>
      entry.benchmark_score === null
        ? []
        : {
            key: `${entry.agent_id}:${entry.agent_version}`,
            name: `${entry.agent_id} ${entry.agent_version}`,
            value: entry.benchmark_score,
            interval: entry.intervals.benchmark,
            remark: entry.rank === null ? "not ranked" : undefined,
          },
    )
    .sort((a, b) => Number(Boolean(a.remark)) - Number(Boolean(b.remark)));
  const { shown, note } = useFew(rows, MOST);
  if (rows.length === 0) return null;
  const missing = entries.length - rows.length;
  const lead = [
    "The dot is the benchmark score; the bar is its confidence interval. Overlapping bars show no clear difference.",
    rows.some((row) => row.remark) && "Entries without a rank are grey and come last.",
    missing > 0 &&
      `${amount(missing, "entry", "entries")} without a benchmark score ${missing === 1 ? "is" : "are"} left out.`,
  ];
  return (
    <ChartCard
      title="Benchmark scores"
      lead={lead.filter(Boolean).join(" ")}
      chart={
        <>
          <IntervalChart
            rows={shown}
            label={`Benchmark scores of ${amount(shown.length, "agent")} with their intervals`}
          />
          {note}
        </>
      }
      table={
        <WideTable label="Benchmark scores with their intervals" minWidth={400}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Agent</Table.Th>
              <Table.Th>Ranked</Table.Th>
              <Table.Th ta="right">Benchmark</Table.Th>
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
                <Table.Td>{row.remark ?? "ranked"}</Table.Td>
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

import { Table } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { IntervalChart, type IntervalRow } from "../../charts/IntervalChart";
import { ChartCard } from "../../ui/ChartCard";
import { amount, percent, score } from "../../ui/numbers";
import { overallOf } from "../../ui/suiteWords";
import { WideTable } from "../../ui/WideTable";

interface ComponentCardProps {
  entry: Schemas["BoardEntry"];
  weights?: Schemas["Weights"];
}

const COMPONENTS = [
  { key: "benchmark", name: "Benchmark", field: "benchmark_score" },
  { key: "user_rating", name: "User rating", field: "user_rating_score" },
  { key: "success_rate", name: "Success rate", field: "success_rate_score" },
  { key: "cost_efficiency", name: "Cost efficiency", field: "cost_efficiency_score" },
] as const;

/** The components of the overall score, each with its interval. */
export function ComponentCard({ entry, weights }: ComponentCardProps) {
  const parts = COMPONENTS.map(({ key, name, field }) => ({
    key,
    name,
    value: entry[field],
    interval: entry.intervals[key],
    weight: weights?.[key],
  }));
  const total = overallOf(entry);
  const overall: IntervalRow[] =
    total === null
      ? []
      : [{ key: "overall", name: "Overall", value: total, interval: entry.intervals.overall }];
  const rows = [
    ...overall,
    ...parts.flatMap((part) => (part.value === null ? [] : [{ ...part, value: part.value }])),
  ];
  const missing = parts
    .filter((part) => part.value === null)
    .map((part) => part.name.toLowerCase());
  const rests = ` Based on ${amount(entry.execution_count, "execution")} and ${amount(entry.feedback_count, "rating")}.`;
  const rank =
    entry.rank === null
      ? ` Not ranked: ${entry.unranked_because}.`
      : ` Rank ${entry.rank} on the leaderboard.`;
  const archived = entry.is_archived ? " Archived: not listed there." : "";
  return (
    <ChartCard
      title={`Score of ${entry.agent_version}`}
      lead={`Each component with its confidence interval.${rests}${rank}${archived}${
        missing.length ? ` No data yet for: ${missing.join(", ")}.` : ""
      }`}
      chart={<IntervalChart rows={rows} label={`Score of ${entry.agent_id} by component`} />}
      table={
        <WideTable label="Score components" minWidth={480}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Component</Table.Th>
              <Table.Th ta="right">Weight</Table.Th>
              <Table.Th ta="right">Score</Table.Th>
              <Table.Th ta="right">From</Table.Th>
              <Table.Th ta="right">To</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {[...overall.map((row) => ({ ...row, weight: 1 })), ...parts].map((part) => (
              <Table.Tr key={part.key}>
                <Table.Td>
                  {part.key === "benchmark" && entry.benchmark_run_id ? (
                    <Link href={`/runs/${entry.benchmark_run_id}`}>{part.name}</Link>
                  ) : (
                    part.name
                  )}
                </Table.Td>
                <Table.Td ta="right">
                  {percent(part.weight === undefined ? null : part.weight * 100)}
                </Table.Td>
                <Table.Td ta="right">{score(part.value)}</Table.Td>
                <Table.Td ta="right">{score(part.interval?.low)}</Table.Td>
                <Table.Td ta="right">{score(part.interval?.high)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      }
    />
  );
}

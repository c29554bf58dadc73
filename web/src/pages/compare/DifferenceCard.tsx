import { Table } from "@mantine/core";
import { lazy, Suspense } from "react";
import type { Schemas } from "../../api/queries";
import { ChartCard } from "../../ui/ChartCard";
import { Loading } from "../../ui/Loading";
import { amount, count, score, signed } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { useFew } from "../../ui/useFew";
import { WideTable } from "../../ui/WideTable";
import { interval, named, points, pValue } from "./words";

const DifferenceChart = lazy(() =>
  import("../../charts/DifferenceChart").then((file) => ({ default: file.DifferenceChart })),
);

/** Rows of the chart at first. */
const MOST = 15;

/** Each pair's difference with its interval, drawn and as a table. */
export function DifferenceCard({ pairs }: { pairs: Schemas["ComparedPair"][] }) {
  const rows = pairs.flatMap((pair) => {
    const value = points(pair);
    if (value === null) return [];
    const name = `${named(pair.first)} against ${named(pair.second)}`;
    return { key: name, name, value, interval: pair.interval };
  });
  const { shown, note } = useFew(rows, MOST);
  return (
    <ChartCard
      title="Paired differences"
      lead="Difference of their pass rates on the tests both ran, in percentage points, with its confidence interval. An interval that includes 0 is not significant."
      chart={
        rows.length === 0 ? (
          "They have no tests in common."
        ) : (
          <Suspense fallback={<Loading what="the chart" rows={1} height={96} />}>
            <DifferenceChart
              rows={shown}
              label={`Differences of ${amount(shown.length, "pair")} with their intervals`}
            />
            {note}
          </Suspense>
        )
      }
      table={
        <WideTable label="Paired differences" minWidth={860}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>First</Table.Th>
              <Table.Th>Second</Table.Th>
              <Table.Th ta="right">Tests in common</Table.Th>
              <Table.Th ta="right">Clusters</Table.Th>
              <Table.Th ta="right">Difference</Table.Th>
              <Table.Th ta="right">Interval</Table.Th>
              <Table.Th ta="right">p, adjusted</Table.Th>
              <Table.Th>Significance</Table.Th>
              <Table.Th ta="right">Detectable</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {pairs.map((pair) => (
              <Table.Tr key={`${pair.first} ${pair.second}`}>
                <Table.Td>
                  <Untrusted text={named(pair.first)} />
                </Table.Td>
                <Table.Td>
                  <Untrusted text={named(pair.second)} />
                </Table.Td>
                <Table.Td ta="right">{count(pair.common_tests)}</Table.Td>
                <Table.Td ta="right">{count(pair.clusters)}</Table.Td>
                <Table.Td ta="right">{signed(points(pair))}</Table.Td>
                <Table.Td ta="right">{interval(pair)}</Table.Td>
                <Table.Td ta="right">{pValue(pair.adjusted_p_value)}</Table.Td>
                <Table.Td>{pair.significant ? "significant" : "not significant"}</Table.Td>
                <Table.Td ta="right">{score(pair.power?.detectable_difference)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      }
    />
  );
}

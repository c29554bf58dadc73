import { Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { type CostPoint, ParetoChart } from "../../charts/ParetoChart";
import { ChartCard } from "../../ui/ChartCard";
import { marked } from "../../ui/marks";
import { amount, dollars, percent } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

type Point = Schemas["ParetoPoint"];

/** Accuracy against cost, with the Pareto front. */
export function CostCard({ pareto }: { pareto: Schemas["Pareto"] }) {
  const points = [
    ...pareto.front.map((point) => drawn(point, true)),
    ...pareto.dominated.map((point) => drawn(point, false)),
  ];
  if (points.length === 0) return null;
  const unknown = pareto.unknown_cost.length;
  const unranked = pareto.unranked.length;
  const lead =
    "The line joins the agents that no other agent beats on both. Names that would overlap are left out; the table has all." +
    (unknown ? ` ${amount(unknown, "agent")} reported no cost and cannot be shown.` : "") +
    (unranked ? ` ${amount(unranked, "agent")} without a rank: in the table only.` : "");
  return (
    <ChartCard
      title="Accuracy against cost"
      lead={lead}
      chart={
        <ParetoChart
          points={points}
          label={`Accuracy against cost of ${amount(points.length, "agent")}; ${pareto.front.length} on the front`}
        />
      }
      table={
        <WideTable label="Accuracy against cost" minWidth={520}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Agent</Table.Th>
              <Table.Th ta="right">Accuracy</Table.Th>
              <Table.Th ta="right">Dollars per test</Table.Th>
              <Table.Th>Beaten by</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {pareto.front.map((point) => (
              <CostRow key={nameOf(point)} point={point} beaten="none: on the front" />
            ))}
            {pareto.dominated.map((point) => (
              <CostRow key={nameOf(point)} point={point} beaten={point.by} />
            ))}
            {pareto.unknown_cost.map((point) => (
              <CostRow key={nameOf(point)} point={point} beaten="cost unknown" />
            ))}
            {pareto.unranked.map((point) => (
              <CostRow key={nameOf(point)} point={point} beaten="not compared: it has no rank" />
            ))}
          </Table.Tbody>
        </WideTable>
      }
    />
  );
}

function CostRow({ point, beaten }: { point: Point; beaten: string }) {
  return (
    <Table.Tr>
      <Table.Td>
        <Link href={`/runs/${point.run_id}`}>
          <Untrusted text={nameOf(point)} />
        </Link>
      </Table.Td>
      <Table.Td ta="right">{percent(point.accuracy)}</Table.Td>
      <Table.Td ta="right">{dollars(point.cost_usd_per_test)}</Table.Td>
      <Table.Td>
        <Text size="sm" span>
          <Untrusted text={beaten} />
        </Text>
      </Table.Td>
    </Table.Tr>
  );
}

function nameOf(point: Point): string {
  return `${point.agent_id} ${point.agent_version}`;
}

function drawn(point: Point, isFront: boolean): CostPoint {
  return {
    key: nameOf(point),
    name: marked(nameOf(point)),
    cost: point.cost_usd_per_test ?? 0,
    accuracy: point.accuracy,
    isFront,
  };
}

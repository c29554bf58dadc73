import { Table } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { VersionChart } from "../../charts/VersionChart";
import { ChartCard } from "../../ui/ChartCard";
import { Label } from "../../ui/Label";
import { marked } from "../../ui/marks";
import { amount, count, range, score } from "../../ui/numbers";
import { Stars } from "../../ui/Stars";
import { overallOf } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { byVersion } from "../../ui/versions";
import { WideTable } from "../../ui/WideTable";

/** The agent's benchmark scores by version, from old to new. */
export function VersionCard({ entries }: { entries: Schemas["BoardEntry"][] }) {
  const ordered = [...entries].sort((a, b) => byVersion(a.agent_version, b.agent_version));
  const points = ordered.flatMap((entry) =>
    entry.benchmark_score === null
      ? []
      : [
          {
            version: marked(entry.agent_version),
            value: entry.benchmark_score,
            interval: entry.intervals.benchmark,
            isFaint: isReported(entry),
          },
        ],
  );
  const missing = entries.length - points.length;
  const lead = [
    "The benchmark score of each version, with its interval. Where names do not fit, some are left out; the table has all.",
    entries.some(isReported) && "Grey: reported from elsewhere, a claim.",
    points.length > 0 &&
      missing > 0 &&
      `Not drawn: ${amount(missing, "version")} without a benchmark score.`,
  ];
  return (
    <ChartCard
      title="Version history"
      lead={lead.filter(Boolean).join(" ")}
      chart={
        points.length > 0 ? (
          <VersionChart
            points={points}
            label={`Benchmark score of ${amount(points.length, "version")}`}
          />
        ) : (
          "No version has a benchmark score on this board."
        )
      }
      table={
        <WideTable label="Scores by version" minWidth={620}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Version</Table.Th>
              <Table.Th ta="right">Rank</Table.Th>
              <Table.Th ta="right">Benchmark</Table.Th>
              <Table.Th ta="right">Interval</Table.Th>
              <Table.Th ta="right">Overall</Table.Th>
              <Table.Th>User rating</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ordered.map((entry) => (
              <Table.Tr key={entry.agent_version}>
                <Table.Td>
                  <Untrusted text={entry.agent_version} />{" "}
                  {isReported(entry) && <Label tone="warn">reported: a claim</Label>}
                </Table.Td>
                <Table.Td ta="right">{count(entry.rank)}</Table.Td>
                <Table.Td ta="right">
                  {entry.benchmark_run_id ? (
                    <Link href={`/runs/${entry.benchmark_run_id}`}>
                      {score(entry.benchmark_score)}
                    </Link>
                  ) : (
                    score(entry.benchmark_score)
                  )}
                </Table.Td>
                <Table.Td ta="right">{range(entry.intervals.benchmark)}</Table.Td>
                <Table.Td ta="right">{score(overallOf(entry))}</Table.Td>
                <Table.Td>
                  <Stars value={entry.avg_user_rating} votes={entry.feedback_count} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </WideTable>
      }
    />
  );
}

function isReported(entry: Schemas["BoardEntry"]): boolean {
  return entry.provenance === "reported";
}

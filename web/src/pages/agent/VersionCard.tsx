import { Table } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { VersionChart } from "../../charts/VersionChart";
import { ChartCard } from "../../ui/ChartCard";
import { marked } from "../../ui/marks";
import { count, range, score } from "../../ui/numbers";
import { Stars } from "../../ui/Stars";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";

interface VersionCardProps {
  entries: Schemas["BoardEntry"][];
  /** Every version that is known, newest first. */
  versions: string[];
}

/** The agent's scores by version. */
export function VersionCard({ entries, versions }: VersionCardProps) {
  const place = new Map(versions.map((version, index) => [version, -index]));
  const ordered = [...entries].sort(
    (a, b) =>
      (place.get(a.agent_version) ?? -versions.length) -
        (place.get(b.agent_version) ?? -versions.length) ||
      a.agent_version.localeCompare(b.agent_version, "en", { numeric: true }),
  );
  const points = ordered.flatMap((entry) =>
    entry.overall_score === null
      ? []
      : [
          {
            version: marked(entry.agent_version),
            value: entry.overall_score,
            interval: entry.intervals.overall,
          },
        ],
  );
  return (
    <ChartCard
      title="Version history"
      lead="The overall score of each version, with its interval. Where names do not fit, some are left out; the table has all."
      chart={<VersionChart points={points} label={`Overall score of ${points.length} versions`} />}
      table={
        <WideTable label="Scores by version" minWidth={620}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>Version</Table.Th>
              <Table.Th ta="right">Rank</Table.Th>
              <Table.Th ta="right">Overall</Table.Th>
              <Table.Th ta="right">Interval</Table.Th>
              <Table.Th ta="right">Benchmark</Table.Th>
              <Table.Th>User rating</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {ordered.map((entry) => (
              <Table.Tr key={entry.agent_version}>
                <Table.Td>
                  <Untrusted text={entry.agent_version} />
                </Table.Td>
                <Table.Td ta="right">{count(entry.rank)}</Table.Td>
                <Table.Td ta="right">{score(entry.overall_score)}</Table.Td>
                <Table.Td ta="right">{range(entry.intervals.overall)}</Table.Td>
                <Table.Td ta="right">
                  {entry.benchmark_run_id ? (
                    <Link href={`/runs/${entry.benchmark_run_id}`}>
                      {score(entry.benchmark_score)}
                    </Link>
                  ) : (
                    score(entry.benchmark_score)
                  )}
                </Table.Td>
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

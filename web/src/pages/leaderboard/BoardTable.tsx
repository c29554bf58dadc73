import { Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Label } from "../../ui/Label";
import { amount, percent, range, score, starRange } from "../../ui/numbers";
import { Stars } from "../../ui/Stars";
import { agentHref, overallOf, provenanceName, SUCCESS_RATE } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import classes from "./BoardTable.module.css";
import { Rank } from "./Rank";

type Entry = Schemas["BoardEntry"];

const COLUMNS = 7;

/** The board as a table: ranked entries, then the others; every number links to its data. */
export function BoardTable({ entries, suite }: { entries: Entry[]; suite?: string }) {
  const ranked = entries.filter((entry) => entry.rank !== null);
  const others = entries.filter((entry) => entry.rank === null);
  const shared = new Set(
    ranked.map((entry) => entry.rank).filter((rank, index, all) => all.indexOf(rank) !== index),
  );
  return (
    <div>
      <WideTable isCards label="Leaderboard" minWidth={900}>
        <Head>
          <Table.Th role="columnheader">Rank</Table.Th>
          <Table.Th role="columnheader">Agent</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Benchmark
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Overall
          </Table.Th>
          <Table.Th role="columnheader">User rating</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Success rate
            <span className={classes.caption}>{SUCCESS_RATE}</span>
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Cost efficiency
          </Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {ranked.map((entry) => (
            <BoardRow
              key={nameOf(entry)}
              entry={entry}
              suite={suite}
              isShared={shared.has(entry.rank)}
            />
          ))}
        </Table.Tbody>
        {others.length > 0 && (
          <Table.Tbody role="rowgroup">
            <Table.Tr role="row" className={classes.divider}>
              <Table.Th role="rowheader" scope="rowgroup" colSpan={COLUMNS}>
                Not ranked
              </Table.Th>
            </Table.Tr>
            {others.map((entry) => (
              <BoardRow key={nameOf(entry)} entry={entry} suite={suite} isShared={false} />
            ))}
          </Table.Tbody>
        )}
      </WideTable>
      <Text size="xs" c="dimmed" mt={4} hiddenFrom="sm">
        Success rate: {SUCCESS_RATE}.
      </Text>
    </div>
  );
}

interface BoardRowProps {
  entry: Entry;
  suite?: string;
  isShared: boolean;
}

function BoardRow({ entry, suite, isShared }: BoardRowProps) {
  const { intervals } = entry;
  const agent = agentHref(entry.agent_id, suite);
  const overall = overallOf(entry);
  return (
    <Table.Tr role="row" className={classes.row}>
      <Cell place="beside">
        <Rank rank={entry.rank} low={entry.rank_low} high={entry.rank_high} isShared={isShared} />
      </Cell>
      <Cell place="title" className={classes.entry}>
        <div className={classes.heading}>
          <span className={classes.name}>
            <Link href={agent} className={classes.agent}>
              <Untrusted text={entry.agent_id} />
            </Link>{" "}
            <Text span size="sm" c="dimmed">
              <Untrusted text={entry.agent_version} />
            </Text>
          </span>
          <Marks entry={entry} />
        </div>
        <Basis entry={entry} />
      </Cell>
      <Cell place="score" ta="right" className={classes.lead}>
        {entry.benchmark_run_id ? (
          <Link href={`/runs/${entry.benchmark_run_id}`}>{score(entry.benchmark_score)}</Link>
        ) : (
          score(entry.benchmark_score)
        )}
        {intervals.benchmark && <Note>{range(intervals.benchmark)}</Note>}
      </Cell>
      <Cell label="Overall" ta="right">
        <span>{score(overall)}</span>
        {overall !== null && <Note>{range(intervals.overall)}</Note>}
      </Cell>
      <Cell label="User rating">
        {entry.feedback_count > 0 ? (
          <Link href={`${agent}#feedback`} className={classes.stars}>
            <Stars value={entry.avg_user_rating} votes={entry.feedback_count} />
          </Link>
        ) : (
          <Stars value={null} />
        )}
        {entry.feedback_count > 0 && <Note>{starRange(intervals.user_rating)}</Note>}
      </Cell>
      <Cell label="Success rate" ta="right">
        <span>{percent(entry.success_rate_score)}</span>
        {entry.execution_count > 0 && (
          <>
            <Note>{range(intervals.success_rate)}</Note>
            <Note>{amount(entry.execution_count, "execution")}</Note>
          </>
        )}
      </Cell>
      <Cell label="Cost efficiency" ta="right">
        <span>{score(entry.cost_efficiency_score)}</span>
        {intervals.cost_efficiency && <Note>{range(intervals.cost_efficiency)}</Note>}
      </Cell>
    </Table.Tr>
  );
}

/** What a reader must know before believing the numbers. */
function Marks({ entry }: { entry: Entry }) {
  return (
    <div className={classes.marks}>
      {entry.provenance === "reported" && <Label tone="warn">reported: a claim</Label>}
      {entry.judge_family && (
        <Label tone="warn">{`judged by its own model family (${entry.judge_family})`}</Label>
      )}
      {entry.is_other_file && <Label tone="warn">same version, other file</Label>}
      {(entry.error_rate ?? 0) > 0 && (
        <Label tone="warn">{`${percent((entry.error_rate ?? 0) * 100)} infrastructure errors`}</Label>
      )}
      {entry.is_archived && <Label tone="quiet">archived</Label>}
      {entry.provisional && (
        <span title={`Based on ${percent(entry.coverage * 100)} of the weight so far`}>
          <Label tone="quiet">provisional</Label>
        </span>
      )}
    </div>
  );
}

/** What the benchmark rests on, or why there is no rank. */
function Basis({ entry }: { entry: Entry }) {
  const { tests, suite_tests, runs, provenance, unranked_because } = entry;
  const covers = tests === null || suite_tests === null ? "" : `${tests} of ${suite_tests} tests`;
  const facts = [
    unranked_because && capitalized(unranked_because),
    // The reason may say it already.
    !unranked_because?.includes(covers) && covers,
    runs > 0 && attempts(entry),
    provenance && provenance !== "reported" && provenanceName(provenance),
  ].filter(Boolean);
  if (facts.length === 0) return null;
  return (
    <Text size="xs" c="dimmed" className={classes.basis}>
      {facts.join(" · ")}
    </Text>
  );
}

/** How many runs there are, and how far apart: the latest counts, never the best. */
function attempts({ runs, runs_lowest, runs_highest }: Entry): string {
  if (runs === 1) return "1 run";
  const latest = `latest of ${runs} runs`;
  if (runs_lowest === null || runs_highest === null) return latest;
  const [low, high] = [score(runs_lowest), score(runs_highest)];
  return low === high ? `${latest}, each ${low}` : `${latest}, ${low}–${high}`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function nameOf(entry: Entry): string {
  return `${entry.agent_id}:${entry.agent_version}`;
}

function Note({ children }: { children: string }) {
  return (
    <Text size="xs" c="dimmed" fw={400} className={classes.note}>
      {children}
    </Text>
  );
}

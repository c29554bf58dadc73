import { Badge, Button, Group, Paper, Text, Title } from "@mantine/core";
import { Fragment, useState } from "react";
import { Link } from "wouter";
import { type Schemas, useBenchmark } from "../../api/queries";
import { useProgress } from "../../app/live";
import { Bolt, Star } from "../../ui/icons";
import { Label } from "../../ui/Label";
import { amount, range, score } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { RunProgress } from "../../ui/RunProgress";
import { stateOf } from "../../ui/runState";
import { Stars } from "../../ui/Stars";
import { overallOf } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./AgentCard.module.css";
import { RateDialog } from "./RateDialog";

type Entry = Schemas["BoardEntry"];

interface AgentCardProps {
  agent: Schemas["Agent"];
  /** The board that the entry is on. */
  board?: Schemas["Leaderboard"];
  /** The shown version on that board. */
  entry?: Entry;
  /** Recent runs of the shown version, newest first. */
  runs: Schemas["Run"][];
}

export function AgentCard({ agent, board, entry, runs }: AgentCardProps) {
  const benchmark = useBenchmark();
  const [isRating, setRating] = useState(false);
  const active = runs.find((run) => ["running", "pending"].includes(stateOf(run)));
  // The run just started here or in progress, else the one behind the score, else the newest.
  const runId =
    benchmark.data?.run_id ?? active?.id ?? entry?.benchmark_run_id ?? runs[0]?.id ?? "";
  const isBehind = runId === entry?.benchmark_run_id;
  const progress = useProgress(runId);
  const run = runs.find((one) => one.id === runId);
  const latest = progress ?? run;
  const isRunning = benchmark.isPending || (latest && stateOf(latest) === "running");

  return (
    <Paper withBorder p="lg" component="article" className={classes.card} aria-label={agent.name}>
      <Group justify="space-between" align="flex-start" wrap="nowrap" gap="sm">
        <div className={classes.names}>
          <Title order={2} size="h4">
            <Link href={`/agents/${encodeURIComponent(agent.id)}`} className={classes.link}>
              <Untrusted text={agent.nickname ?? agent.name} />
            </Link>
          </Title>
          <Text size="sm" c="dimmed">
            <Untrusted text={agent.nickname ? `${agent.name} · ${agent.id}` : agent.id} />
          </Text>
        </div>
        <Group gap="xs" className={classes.version}>
          {entry?.is_archived && <Label tone="quiet">archived</Label>}
          <Badge variant="default" radius="sm" tt="none">
            {agent.version}
          </Badge>
        </Group>
      </Group>
      {/* The clamped box itself must not grow: it would show the line after the last. */}
      <div className={classes.description}>
        <Text size="sm" lineClamp={3}>
          <Untrusted text={agent.description} />
        </Text>
      </div>
      <dl className={classes.facts}>
        <Benchmark suite={board?.suite} entry={entry} />
        {entry && overallOf(entry) !== null && (
          <div>
            <dt>Overall</dt>
            <dd>{score(overallOf(entry))}</dd>
          </div>
        )}
        <div>
          <dt>Rating</dt>
          <dd>
            {entry ? <Stars value={entry.avg_user_rating} votes={entry.feedback_count} /> : "–"}
          </dd>
        </div>
        <div>
          <dt>Tests</dt>
          <dd>{amount(agent.applicable_tests, "test")}</dd>
        </div>
      </dl>
      <div className={classes.state}>
        <RunProgress
          runId={runId}
          name={isBehind ? "Benchmark run" : "Last run"}
          progress={progress}
          run={run}
        >
          {marksOf(run, board, isBehind ? entry : undefined).map((mark) => (
            <Fragment key={mark}>
              {" "}
              <Label tone="warn">{mark}</Label>
            </Fragment>
          ))}
        </RunProgress>
        {benchmark.error && <ProblemNote error={benchmark.error} />}
      </div>
      <Group gap="xs" grow>
        <Button
          variant="light"
          leftSection={<Bolt />}
          loading={isRunning}
          aria-label={`Benchmark ${agent.name}`}
          disabled={agent.applicable_tests === 0}
          onClick={() => benchmark.mutate({ agent_id: agent.id, version: agent.version })}
        >
          Benchmark
        </Button>
        <Button
          variant="default"
          leftSection={<Star />}
          aria-label={`Rate ${agent.name}`}
          onClick={() => setRating(true)}
        >
          Rate
        </Button>
      </Group>
      <RateDialog
        agentId={agent.id}
        version={agent.version}
        name={agent.nickname ?? agent.name}
        opened={isRating}
        onClose={() => setRating(false)}
      />
    </Paper>
  );
}

/** The benchmark score with its interval; why there is no rank, where there is none. */
function Benchmark({ suite, entry }: { suite?: string | null; entry?: Entry }) {
  return (
    <div className={classes.benchmark}>
      <dt>
        Benchmark
        {suite && (
          <>
            {" · "}
            <Untrusted text={suite} />
          </>
        )}
      </dt>
      {entry?.benchmark_score != null && (
        <dd>
          <span className={classes.score} data-unranked={entry.rank === null || undefined}>
            {score(entry.benchmark_score)}
          </span>
          <span className={classes.interval}>{range(entry.intervals.benchmark)}</span>
        </dd>
      )}
      {entry?.unranked_because && (
        <dd className={classes.unranked}>Not ranked: {entry.unranked_because}</dd>
      )}
      {!entry && <dd>–</dd>}
    </div>
  );
}

/** Why a run is not what the board would show; `behind` is the entry that rests on it. */
function marksOf(
  run: Schemas["Run"] | undefined,
  board: Schemas["Leaderboard"] | undefined,
  behind: Entry | undefined,
): string[] {
  const marks = [];
  if ((behind ?? run)?.provenance === "reported") marks.push("reported: a claim");
  if (run && !run.is_full) marks.push("partial");
  if (run && board?.suite && run.suite !== board.suite) marks.push("other suite");
  else if (run && board?.suite && run.suite_version !== board.suite_version)
    marks.push("other suite version");
  return marks;
}

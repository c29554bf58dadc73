import { Badge, Button, Group, Paper, Text, Title } from "@mantine/core";
import { useState } from "react";
import { Link } from "wouter";
import { type Schemas, useBenchmark } from "../../api/queries";
import { useProgress } from "../../app/live";
import { Bolt, Star } from "../../ui/icons";
import { amount, range, score } from "../../ui/numbers";
import { ProblemNote } from "../../ui/ProblemNote";
import { RunProgress } from "../../ui/RunProgress";
import { stateOf } from "../../ui/runState";
import { Stars } from "../../ui/Stars";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./AgentCard.module.css";
import { RateDialog } from "./RateDialog";

interface AgentCardProps {
  agent: Schemas["Agent"];
  entry?: Schemas["BoardEntry"];
  newest?: Schemas["Run"];
}

export function AgentCard({ agent, entry, newest }: AgentCardProps) {
  const benchmark = useBenchmark();
  const [isRating, setRating] = useState(false);
  // The run just started here, else the newest known one.
  const runId = benchmark.data?.run_id ?? newest?.id ?? "";
  const progress = useProgress(runId);
  const run = progress ?? (newest?.id === runId ? newest : undefined);
  const state = run && stateOf(run);
  const isRunning = benchmark.isPending || state === "running";

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
        <Badge variant="default" radius="sm" tt="none" className={classes.version}>
          {agent.version}
        </Badge>
      </Group>
      {/* The clamped box itself must not grow: it would show the line after the last. */}
      <div className={classes.description}>
        <Text size="sm" lineClamp={3}>
          <Untrusted text={agent.description} />
        </Text>
      </div>
      <dl className={classes.facts}>
        <div className={classes.overall}>
          <dt>Overall</dt>
          <dd>
            <span className={classes.score}>{score(entry?.overall_score)}</span>
            {entry?.intervals.overall && (
              <span className={classes.interval}>{range(entry.intervals.overall)}</span>
            )}
          </dd>
        </div>
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
        <RunProgress runId={runId} state={state} progress={progress} newest={newest} />
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

import { Badge, Button, Group, Text } from "@mantine/core";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useAgent, useBenchmark, useFeedback, useLeaderboard, useRuns } from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { Bolt, Star } from "../../ui/icons";
import { Loading } from "../../ui/Loading";
import { amount } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { RateDialog } from "../agents/RateDialog";
import { AgentRuns } from "./AgentRuns";
import { ComponentCard } from "./ComponentCard";
import { FeedbackList } from "./FeedbackList";
import { VersionCard } from "./VersionCard";

/** An agent: what is known of it, from version to version, and what people say. */
export default function AgentPage() {
  const { agentId = "" } = useParams<{ agentId: string }>();
  const [, navigate] = useLocation();
  const agent = useAgent(agentId);
  const board = useLeaderboard({ agentId });
  const runs = useRuns({ agentId }, 10);
  const feedback = useFeedback(agentId);
  const benchmark = useBenchmark();
  const [isRating, setRating] = useState(false);
  const back = <BackLink href="/">All agents</BackLink>;
  const entries = board.data?.leaderboard ?? [];
  if (agent.isPending)
    return (
      <Page title={agentId} before={back}>
        <Loading what="the agent" />
      </Page>
    );
  // An agent whose file is gone still has its history.
  const newest = entries.find((entry) => entry.agent_version === agent.data?.version) ?? entries[0];
  const version = agent.data?.version ?? newest?.agent_version ?? "";
  return (
    <Page
      title={agent.data?.nickname ?? agent.data?.name ?? agentId}
      before={back}
      lead={agent.data && <Untrusted text={agent.data.description} />}
      actions={
        agent.data && (
          <>
            <Button
              leftSection={<Bolt />}
              loading={benchmark.isPending}
              onClick={() =>
                benchmark.mutate(
                  { agent_id: agentId, version },
                  { onSuccess: ({ run_id }) => navigate(`/runs/${run_id}`) },
                )
              }
            >
              Benchmark
            </Button>
            <Button variant="default" leftSection={<Star />} onClick={() => setRating(true)}>
              Rate
            </Button>
          </>
        )
      }
    >
      {agent.error && <ProblemNote error={agent.error} onRetry={() => agent.refetch()} />}
      {benchmark.error && <ProblemNote error={benchmark.error} />}
      {agent.data && (
        <Group gap="xs">
          <Badge variant="default" radius="sm" tt="none">
            {agent.data.id}
          </Badge>
          <Badge variant="default" radius="sm" tt="none">
            version {agent.data.version}
          </Badge>
          <Badge variant="default" radius="sm" tt="none">
            {agent.data.connector}
          </Badge>
          {agent.data.tags.map((tag) => (
            <Badge key={tag} variant="outline" color="gray" radius="sm" tt="none">
              {tag}
            </Badge>
          ))}
          <Text size="sm">{amount(agent.data.applicable_tests, "test")} apply to it</Text>
        </Group>
      )}
      {board.isPending && <Loading what="the scores" rows={2} />}
      {board.error && <ProblemNote error={board.error} onRetry={() => board.refetch()} />}
      {newest && <ComponentCard entry={newest} weights={board.data?.weights} />}
      {entries.length > 0 && (
        <VersionCard entries={entries} versions={agent.data?.versions ?? []} />
      )}
      <AgentRuns
        runs={runs.data?.pages.flatMap((page) => page.runs)}
        more={
          runs.hasNextPage && (
            <Link href={`/benchmarks?agent=${encodeURIComponent(agentId)}`}>All its runs</Link>
          )
        }
      />
      <FeedbackList feedback={feedback.data?.feedback} />
      <RateDialog
        agentId={agentId}
        version={version}
        name={agent.data?.nickname ?? agent.data?.name ?? agentId}
        opened={isRating}
        onClose={() => setRating(false)}
      />
    </Page>
  );
}

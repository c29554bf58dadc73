import { Badge, Button, Group, Select, Text } from "@mantine/core";
import { useState } from "react";
import { Link, useLocation, useParams } from "wouter";
import { useMarketAgents } from "../../api/market";
import { asProblem, isNotFound } from "../../api/problem";
import {
  type Schemas,
  useAgent,
  useBenchmark,
  useFeedback,
  useLeaderboard,
  useRuns,
} from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { Bolt, Star } from "../../ui/icons";
import { Loading } from "../../ui/Loading";
import { amount } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { useFilters } from "../../ui/useFilters";
import { RateDialog } from "../agents/RateDialog";
import { AgentRuns } from "./AgentRuns";
import { ArchiveVersion } from "./ArchiveVersion";
import { ComponentCard } from "./ComponentCard";
import { FeedbackList } from "./FeedbackList";
import { MarketCard } from "./MarketCard";
import { VersionCard } from "./VersionCard";

/** An agent: its scores, versions, runs and ratings. */
export default function AgentPage() {
  const { agentId = "" } = useParams<{ agentId: string }>();
  const [, navigate] = useLocation();
  const agent = useAgent(agentId);
  const [search, choose] = useFilters();
  const suite = search.get("suite") ?? undefined;
  const board = useLeaderboard({ agentId, suite, archived: true });
  const runs = useRuns({ agentId }, 10);
  const feedback = useFeedback(agentId);
  const market = useMarketAgents();
  const benchmark = useBenchmark();
  const [isRating, setRating] = useState(false);
  const back = <BackLink href="/">All agents</BackLink>;
  const entries = board.data?.leaderboard ?? [];
  const played = runs.data?.pages.flatMap((page) => page.runs);
  const votes = feedback.data?.feedback;
  const reputation = market.data?.agents.find((one) => one.id === agentId)?.reputation;
  const isHere = agent.data !== undefined;
  // Without a file there may still be data: from the market, reported executions, earlier runs.
  const isFileless = agent.isError && isNotFound(asProblem(agent.error));
  const isKnown = Boolean(entries.length || played?.length || votes?.length || reputation);
  const isLooking = [board, runs, feedback, market].some((one) => one.isPending);
  if (agent.isPending || (isFileless && !isKnown && isLooking))
    return (
      <Page title={agentId} before={back}>
        <Loading what="the agent" />
      </Page>
    );
  if (isFileless && !isKnown)
    return (
      <Page title={agentId} before={back}>
        <ProblemNote error={agent.error} onRetry={() => agent.refetch()} />
      </Page>
    );
  const newest = entries.find((entry) => entry.agent_version === agent.data?.version) ?? entries[0];
  const version = agent.data?.version ?? newest?.agent_version ?? "";
  return (
    <Page
      title={agent.data?.nickname ?? agent.data?.name ?? agentId}
      before={back}
      lead={
        agent.data ? (
          <Untrusted text={agent.data.description} />
        ) : (
          isFileless &&
          "There is no agent file with this name here, so it cannot be run. The data below comes from the market, from reported executions or from earlier runs."
        )
      }
      actions={
        <>
          {agent.data && (
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
          )}
          {newest && <ArchiveVersion entry={newest} />}
        </>
      }
    >
      {agent.error && !isFileless && (
        <ProblemNote error={agent.error} onRetry={() => agent.refetch()} />
      )}
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
          <Text size="sm">{amount(agent.data.applicable_tests, "applicable test")}</Text>
        </Group>
      )}
      <BoardChoice
        board={board.data}
        suite={suite}
        onChoose={(value) => choose({ suite: value })}
      />
      {board.isPending && <Loading what="the scores" rows={2} />}
      {board.error && <ProblemNote error={board.error} onRetry={() => board.refetch()} />}
      {newest && <ComponentCard entry={newest} weights={board.data?.weights} />}
      {entries.length > 0 && <VersionCard entries={entries} />}
      {reputation && <MarketCard reputation={reputation} />}
      <AgentRuns
        runs={played}
        isHere={isHere}
        more={
          runs.hasNextPage && (
            <Link href={`/benchmarks?agent=${encodeURIComponent(agentId)}`}>All runs</Link>
          )
        }
      />
      <FeedbackList feedback={votes} isHere={isHere} />
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

interface BoardChoiceProps {
  board?: Schemas["Leaderboard"];
  suite?: string;
  onChoose: (suite: string | null) => void;
}

/** The suite whose board the scores are from; nothing to choose if there is only one. */
function BoardChoice({ board, suite, onChoose }: BoardChoiceProps) {
  const suites = new Set(board?.suites);
  if (suite) suites.add(suite);
  if (suites.size < 2) return null;
  return (
    <Select
      label="Scores on the board of the suite"
      placeholder={board?.suite ?? "Default suite"}
      clearable
      clearButtonProps={{ "aria-label": "Default suite" }}
      data={[...suites]}
      value={suite ?? null}
      onChange={onChoose}
      w={260}
    />
  );
}

import { Alert, List, SimpleGrid, Text } from "@mantine/core";
import { useMemo } from "react";
import { type Schemas, useAgents, useLeaderboard, useRuns } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Warning } from "../../ui/icons";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { AgentCard } from "./AgentCard";

/** The agents: a card for each, with its actions. */
export default function AgentsPage() {
  const agents = useAgents();
  const board = useLeaderboard({ archived: true });
  const runs = useRuns({}, 100);
  const entries = useMemo(
    () => new Map(board.data?.leaderboard.map((entry) => [nameOf(entry), entry])),
    [board.data],
  );
  const runsByAgent = useMemo(
    () => Map.groupBy(runs.data?.pages[0]?.runs ?? [], nameOf),
    [runs.data],
  );

  return (
    <Page title="Agents" lead="Benchmark an agent, or rate the work it did for you.">
      {agents.isPending && <Loading what="the agents" rows={3} height={160} />}
      {agents.error && <ProblemNote error={agents.error} onRetry={() => agents.refetch()} />}
      {agents.data && agents.data.problems.length > 0 && (
        <Alert color="yellow" icon={<Warning />} title="Some agent files cannot be read">
          <List size="sm">
            {agents.data.problems.map((problem) => (
              <List.Item key={problem}>{problem}</List.Item>
            ))}
          </List>
        </Alert>
      )}
      {agents.data?.agents.length === 0 && (
        <EmptyNote title="No agents yet">
          <Text>
            An agent is a YAML file. Put one into <code>ARENA_HOME/agents</code>, or start the
            server with <code>arena serve --agents FOLDER</code>.
          </Text>
        </EmptyNote>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2, lg: 3 }} spacing="md">
        {agents.data?.agents.map((agent) => (
          <AgentCard
            key={agent.id}
            agent={agent}
            board={board.data}
            entry={entries.get(`${agent.id}:${agent.version}`)}
            runs={runsByAgent.get(`${agent.id}:${agent.version}`) ?? []}
          />
        ))}
      </SimpleGrid>
    </Page>
  );
}

function nameOf(of: Pick<Schemas["Run"], "agent_id" | "agent_version">): string {
  return `${of.agent_id}:${of.agent_version}`;
}

import { Button, Group, Select, Text } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { TASK_STATES, useBalances, useMarket, useMarketAgents, useTasks } from "../../api/market";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { AgentTable } from "./AgentTable";
import { BalanceTable } from "./BalanceTable";
import { ChainProblem } from "./ChainProblem";
import { HowToTrade } from "./HowToTrade";
import { PostingPlace } from "./PostingPlace";
import { TaskTable } from "./TaskTable";

/** The tasks, the agents that earn, and the balances. */
export function MarketView() {
  const [search, setSearch] = useSearchParams();
  const state = TASK_STATES.find((one) => one === search.get("state"));
  const market = useMarket();
  const tasks = useTasks(state);
  const agents = useMarketAgents();
  const balances = useBalances();
  const rows = tasks.data?.pages.flatMap((page) => page.tasks) ?? [];

  return (
    <Page
      title="Market"
      lead={
        <>
          Tasks that pay from escrow for work that passes.
          {market.data && <PostingPlace market={market.data} />}
        </>
      }
    >
      <ChainProblem />
      <HowToTrade />
      <Group>
        <Select
          label="State"
          placeholder="Any state"
          clearable
          clearButtonProps={{ "aria-label": "Any state" }}
          data={TASK_STATES.map(String)}
          value={state ?? null}
          onChange={(value) => setSearch(value ? { state: value } : {})}
        />
      </Group>
      {tasks.isPending && <Loading what="the tasks" />}
      {tasks.error && <ProblemNote error={tasks.error} onRetry={() => tasks.refetch()} />}
      {tasks.data && rows.length === 0 && <NoTasks isFiltered={state !== undefined} />}
      {rows.length > 0 && <TaskTable tasks={rows} />}
      {tasks.hasNextPage && (
        <Group justify="center">
          <Button
            variant="default"
            loading={tasks.isFetchingNextPage}
            onClick={() => tasks.fetchNextPage()}
          >
            Show older tasks
          </Button>
        </Group>
      )}
      {agents.error && <ProblemNote error={agents.error} onRetry={() => agents.refetch()} />}
      {agents.data && agents.data.agents.length > 0 && <AgentTable agents={agents.data.agents} />}
      {balances.error && <ProblemNote error={balances.error} onRetry={() => balances.refetch()} />}
      {balances.data && balances.data.balances.length > 0 && (
        <BalanceTable balances={balances.data} market={market.data} />
      )}
    </Page>
  );
}

function NoTasks({ isFiltered }: { isFiltered: boolean }) {
  if (isFiltered)
    return (
      <EmptyNote
        title="No matching tasks"
        action={
          <Button component={Link} href="/market" variant="default">
            Show all tasks
          </Button>
        }
      >
        No task of your team is in this state.
      </EmptyNote>
    );
  return (
    <EmptyNote title="No tasks yet">
      <Text>
        A task is a job with a standard and a reward that is locked until the verdict. In a
        terminal: <code>arena task post --help</code>; agents earn with <code>arena start</code>.
      </Text>
    </EmptyNote>
  );
}

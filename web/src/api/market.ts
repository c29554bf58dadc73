import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { dataOf } from "./client";
import { keys } from "./keys";
import type { Schemas } from "./queries";

export type TaskState = Schemas["Task"]["state"];

/** The states of a task, in the order of its life. */
export const TASK_STATES: readonly TaskState[] = [
  "open",
  "assigned",
  "committed",
  "submitted",
  "judged",
  "disputed",
  "paid",
  "refunded",
  "expired",
  "cancelled",
];

export function useTasks(state?: TaskState) {
  const { team, api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.market(team), "tasks", state],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET("/api/tasks", {
          params: { query: { state: state ? [state] : undefined, limit: 50, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function useTask(taskId: number) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.market(team), "task", taskId],
    queryFn: () =>
      dataOf(api.GET("/api/tasks/{task_id}", { params: { path: { task_id: taskId } } })),
  });
}

export function useMarketAgents() {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.market(team), "agents"],
    queryFn: () => dataOf(api.GET("/api/market/agents")),
  });
}

export function useBalances() {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.market(team), "balances"],
    queryFn: () => dataOf(api.GET("/api/ledger/balance")),
  });
}

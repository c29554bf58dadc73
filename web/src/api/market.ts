import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
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

export type TaskAction =
  | { move: "assign"; agent: string }
  | { move: "cancel" }
  | { move: "expire" }
  | { move: "settle" };

/** What its poster does with a task, and what anyone may do once its time is over. */
export function useTaskAction(task: Schemas["Task"]) {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (action: TaskAction): Promise<unknown> => {
      const params = { path: { task_id: task.id } };
      const by = task.poster;
      switch (action.move) {
        case "assign":
          return dataOf(
            api.POST("/api/tasks/{task_id}/assign", { params, body: { by, agent: action.agent } }),
          );
        case "cancel":
          return dataOf(api.POST("/api/tasks/{task_id}/cancel", { params, body: { by } }));
        case "expire":
          return dataOf(api.POST("/api/tasks/{task_id}/expire", { params, body: {} }));
        case "settle":
          return dataOf(api.POST("/api/tasks/{task_id}/settle", { params, body: {} }));
      }
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keys.market(team) }),
  });
}

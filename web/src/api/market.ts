import {
  keepPreviousData,
  useInfiniteQuery,
  useMutation,
  useQuery,
  useQueryClient,
} from "@tanstack/react-query";
import { useState } from "react";
import { useTeam } from "../app/team";
import { type Api, dataOf } from "./client";
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

const CHAIN_CHECK_MS = 15_000;

/** Where new tasks are posted, and whether tasks on a chain are shown as they are now. */
export function useMarket() {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.market(team), "info"],
    queryFn: () => dataOf(api.GET("/api/market")),
    // A node that goes away is no event of the market: nothing else would tell.
    refetchInterval: ({ state }) => (state.data?.ledger === "evm" ? CHAIN_CHECK_MS : false),
  });
}

export type TaskAction =
  | { move: "assign"; agent: string }
  | { move: "cancel" }
  | { move: "expire" }
  | { move: "settle" };

/** A move that was sent to a chain and is not final yet. */
export interface PendingMove {
  receipt: Schemas["Receipt"];
  /** Ask how it went: the same call with its key. A move that has failed is sent again. */
  ask: () => Promise<unknown>;
}

interface Sent {
  action: TaskAction;
  key: string;
  /** The state of the task before the move: every move changes it. */
  before: TaskState;
}

/** What its poster does with a task, and what anyone may do once its time is over. */
export function useTaskAction(task: Schemas["Task"]) {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  const [last, setLast] = useState<Sent & { receipt: Schemas["Receipt"] }>();
  const { mutateAsync } = useMutation({
    mutationFn: (sent: Sent) => dataOf(post(api, task, sent)),
    onSuccess: (receipt, sent) => setLast({ ...sent, receipt }),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.market(team) }),
  });
  const isPending = last?.receipt.status === "pending" && last.before === task.state;
  const pending: PendingMove | undefined = isPending
    ? { receipt: last.receipt, ask: () => mutateAsync(last) }
    : undefined;
  return {
    send: (action: TaskAction) => mutateAsync({ action, key: newKey(), before: task.state }),
    pending,
  };
}

function post(api: Api, task: Schemas["Task"], { action, key }: Sent) {
  const params = { path: { task_id: task.id } };
  const anyone = { idempotency_key: key };
  const poster = { by: task.poster, ...anyone };
  switch (action.move) {
    case "assign": {
      const body = { ...poster, agent: action.agent };
      return api.POST("/api/tasks/{task_id}/assign", { params, body });
    }
    case "cancel":
      return api.POST("/api/tasks/{task_id}/cancel", { params, body: poster });
    case "expire":
      return api.POST("/api/tasks/{task_id}/expire", { params, body: anyone });
    case "settle":
      return api.POST("/api/tasks/{task_id}/settle", { params, body: anyone });
  }
}

/** Random; `crypto.randomUUID` is missing on a page that came over HTTP from another machine. */
function newKey(): string {
  return crypto.getRandomValues(new Uint32Array(4)).join("-");
}

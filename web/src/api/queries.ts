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
import type { components } from "./schema";

export type Schemas = components["schemas"];
export type RunStatus = Schemas["Run"]["status"];

/** Results per page: enough to fill any window, few enough to load fast. */
const PAGE = 500;
/** The trials of a test side by side, tests with a failure first. */
const ORDER = "test";

export function useAgents() {
  const { api } = useTeam();
  return useQuery({ queryKey: keys.agents, queryFn: () => dataOf(api.GET("/api/agents")) });
}

export function useAgent(agentId: string) {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.agents, agentId],
    queryFn: () =>
      dataOf(api.GET("/api/agents/{agent_id}", { params: { path: { agent_id: agentId } } })),
  });
}

export interface RunFilter {
  agentId?: string;
  status?: RunStatus;
  suite?: string;
  /** Also archived runs. */
  archived?: boolean;
}

export function useRuns({ agentId, status, suite, archived }: RunFilter, limit = 20) {
  const { team, api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.runs(team), agentId, status, suite, archived, limit],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET("/api/benchmarks/runs", {
          params: {
            query: { agent_id: agentId, status, suite, archived, limit, cursor: pageParam },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function useRun(runId: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.run(team, runId), "details"],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/runs/{run_id}", {
          // Results are loaded separately, without their outputs.
          params: { path: { run_id: runId }, query: { limit: 1 } },
        }),
      ),
  });
}

export interface ResultFilter {
  outcome?: "passed" | "failed" | "awaiting";
  category?: string;
  flaky?: boolean;
}

export function useResults(runId: string, filter: ResultFilter) {
  const { team, api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.run(team, runId), "results", filter],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET("/api/benchmarks/runs/{run_id}/results", {
          params: {
            path: { run_id: runId },
            query: { ...filter, order: ORDER, limit: PAGE, cursor: pageParam },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** One result; its neighbours are those among the filtered results. */
export function useResult(runId: string, resultId: string, filter: ResultFilter) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.run(team, runId), "result", resultId, filter],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/runs/{run_id}/results/{result_id}", {
          params: {
            path: { run_id: runId, result_id: resultId },
            query: { ...filter, order: ORDER },
          },
        }),
      ),
    // Recorded results do not change.
    staleTime: Number.POSITIVE_INFINITY,
  });
}

export interface BoardFilter {
  category?: string;
  agentId?: string;
  /** Default: the default suite of the team. */
  suite?: string;
  /** Default: the one that its board shows. */
  version?: string;
  /** The board as it was then. */
  at?: string;
  /** Also archived agents. */
  archived?: boolean;
}

export function useLeaderboard(filter: BoardFilter = {}) {
  const { agentId, ...rest } = filter;
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "board", filter],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/leaderboard", {
          params: { query: { limit: 200, agent_id: agentId, ...rest } },
        }),
      ),
    placeholderData: keepPreviousData,
  });
}

export function usePareto(suite?: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "pareto", suite],
    queryFn: () => dataOf(api.GET("/api/benchmarks/pareto", { params: { query: { suite } } })),
  });
}

export function useFeedback(agentId: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "feedback", agentId],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/feedback", {
          params: { query: { agent_id: agentId, limit: 100 } },
        }),
      ),
  });
}

/** Creates and starts a run; returns its id at once. */
export function useBenchmark() {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (body: Schemas["RunCreate"]) => {
      const created = await dataOf(api.POST("/api/benchmarks/run", { body }));
      await dataOf(
        api.POST("/api/benchmarks/run/{run_id}/execute", {
          params: { path: { run_id: created.run_id }, query: { wait: false } },
        }),
      );
      return created;
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keys.runs(team) }),
  });
}

type RunAction = "execute" | "resume" | "cancel";

export function useRunAction(runId: string) {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: async (action: RunAction): Promise<unknown> => {
      const params = { path: { run_id: runId }, query: { wait: false } };
      if (action === "execute")
        return dataOf(api.POST("/api/benchmarks/run/{run_id}/execute", { params }));
      if (action === "resume")
        return dataOf(api.POST("/api/benchmarks/runs/{run_id}/resume", { params }));
      return dataOf(
        api.POST("/api/benchmarks/runs/{run_id}/cancel", {
          params: { path: { run_id: runId } },
        }),
      );
    },
    onSettled: () => {
      void queries.invalidateQueries({ queryKey: keys.run(team, runId) });
      void queries.invalidateQueries({ queryKey: keys.runs(team) });
    },
  });
}

export function useRate() {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (vote: Schemas["FeedbackCreate"]) =>
      dataOf(api.POST("/api/benchmarks/feedback", { body: vote })),
    onSuccess: () => queries.invalidateQueries({ queryKey: keys.scores(team) }),
  });
}

/** The categories of the catalog, in order. */
export function useCategories() {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "categories"],
    queryFn: async () => {
      const { tests } = await dataOf(api.GET("/api/benchmarks/tests"));
      return [...new Set(tests.map((test) => test.category))].sort();
    },
  });
}

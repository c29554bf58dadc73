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

/** Events per page of a board's history. */
const PAGE = 50;

/** Every suite of the team. */
export function useSuites() {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.suites(team), "all"],
    queryFn: () => dataOf(api.GET("/api/benchmarks/suites")),
  });
}

/** One suite with its versions and weak tests; not fetched without a name. */
export function useSuite(suite: string | null | undefined) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.suites(team), "one", suite],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/suites/{suite}", { params: { path: { suite: suite ?? "" } } }),
      ),
    enabled: Boolean(suite),
  });
}

/** How two versions of a suite differ; not fetched without the first. */
export function useSuiteDiff(suite: string, before: string | null, after: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.suites(team), "diff", suite, before, after],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/suites/{suite}/diff", {
          params: { path: { suite }, query: { before: before ?? "", after } },
        }),
      ),
    enabled: before !== null,
  });
}

/** Makes a suite the default of the team. */
export function useChooseDefault(suite: string) {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (by: string) =>
      dataOf(
        api.POST("/api/benchmarks/suites/{suite}/default", {
          params: { path: { suite } },
          body: { by },
        }),
      ),
    onSettled: () => queries.invalidateQueries({ queryKey: keys.scores(team) }),
  });
}

export interface LogFilter {
  suite?: string;
  agentId?: string;
}

/** Every change of the boards, newest first. */
export function useBoardLog({ suite, agentId }: LogFilter) {
  const { team, api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.scores(team), "log", suite, agentId],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET("/api/benchmarks/leaderboard/log", {
          params: { query: { suite, agent_id: agentId, limit: PAGE, cursor: pageParam } },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

/** What was archived or deleted; fetched only where it is shown. */
export function useArchive(isShown: boolean) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "archive"],
    queryFn: () => dataOf(api.GET("/api/benchmarks/archive")),
    enabled: isShown,
  });
}

interface Logged {
  by: string;
  reason: string;
}

/** Archives an agent version, or lists it again. */
export function useArchiveAgent(agentId: string, version: string, action: "archive" | "restore") {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Logged) => {
      const options = { params: { path: { agent_id: agentId, version } }, body };
      return dataOf(
        action === "archive"
          ? api.POST("/api/agents/{agent_id}/{version}/archive", options)
          : api.POST("/api/agents/{agent_id}/{version}/restore", options),
      );
    },
    onSettled: () => queries.invalidateQueries({ queryKey: keys.scores(team) }),
  });
}

/** Archives a run, or lists it again. */
export function useArchiveRun(runId: string, action: "archive" | "restore") {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: Logged) => {
      const options = { params: { path: { run_id: runId } }, body };
      return dataOf(
        action === "archive"
          ? api.POST("/api/benchmarks/runs/{run_id}/archive", options)
          : api.POST("/api/benchmarks/runs/{run_id}/restore", options),
      );
    },
    onSettled: () => {
      for (const queryKey of [keys.run(team, runId), keys.runs(team), keys.scores(team)])
        void queries.invalidateQueries({ queryKey });
    },
  });
}

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { dataOf } from "./client";
import { keys } from "./keys";

/** Tests per page of the matrix. */
const PAGE = 200;

/** Who is ahead on a suite, and how significantly; not fetched for fewer than two agents. */
export function useComparison(agents: readonly string[], suite?: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "compare", agents, suite],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/compare", {
          params: { query: { agents: agents.join(","), suite } },
        }),
      ),
    enabled: agents.length >= 2,
    placeholderData: keepPreviousData,
  });
}

/** Tests against agents, page by page. */
export function useMatrix(agents: readonly string[], differing: boolean, suite?: string) {
  const { team, api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.scores(team), "matrix", agents, differing, suite],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET("/api/benchmarks/compare/tests", {
          params: {
            query: { agents: agents.join(","), suite, differing, limit: PAGE, cursor: pageParam },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    enabled: agents.length >= 2,
    placeholderData: keepPreviousData,
  });
}

import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { asked } from "./client";
import { keys } from "./keys";

/** As many tests as one answer brings. */
const PAGE = 200;
/** While tests are still being audited, the rest is asked for so soon. */
const AUDIT_AGAIN_MS = 500;

export interface TestsWanted {
  category?: string;
  tag?: string;
}

export function useTests({ category, tag }: TestsWanted) {
  const { api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.catalog, "tests", category, tag],
    queryFn: ({ pageParam }) =>
      asked(
        api.GET("/api/benchmarks/tests", {
          params: {
            query: { category, tag, include_inactive: true, limit: PAGE, cursor: pageParam },
          },
        }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function useTest(testId: string) {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "test", testId],
    queryFn: () =>
      asked(api.GET("/api/benchmarks/tests/{test_id}", { params: { path: { test_id: testId } } })),
  });
}

/** What the files hold, and what is wrong with them; new as soon as a file changes. */
export function useCatalogState() {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "state"],
    queryFn: () => asked(api.GET("/api/benchmarks/catalog")),
  });
}

/** Which tests an agent that does nothing passes. */
export function useAudit() {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "audit"],
    queryFn: () => asked(api.GET("/api/benchmarks/audit")),
    // Only until the last test was looked at.
    refetchInterval: (query) => (query.state.data?.pending ? AUDIT_AGAIN_MS : false),
  });
}

export function useStanding(testId: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "standing", testId],
    queryFn: () =>
      asked(
        api.GET("/api/benchmarks/tests/{test_id}/standing", {
          params: { path: { test_id: testId } },
        }),
      ),
  });
}

/** Every category and tag there is, of the first thousand tests. */
export function useLabels() {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "labels"],
    queryFn: async () => {
      const query = { include_inactive: true, limit: 1000 };
      const { tests } = await asked(api.GET("/api/benchmarks/tests", { params: { query } }));
      return {
        categories: [...new Set(tests.map((test) => test.category))].sort(),
        tags: [...new Set(tests.flatMap((test) => test.tags))].sort(),
      };
    },
  });
}

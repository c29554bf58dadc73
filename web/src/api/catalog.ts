import { keepPreviousData, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { useTeam } from "../app/team";
import { dataOf } from "./client";
import { keys } from "./keys";

/** Tests per page. */
const PAGE = 200;
/** While tests are still being audited, the audit is fetched again this soon. */
const AUDIT_AGAIN_MS = 500;

export interface TestFilter {
  category?: string;
  tag?: string;
}

export function useTests({ category, tag }: TestFilter) {
  const { api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.catalog, "tests", category, tag],
    queryFn: ({ pageParam }) =>
      dataOf(
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
      dataOf(api.GET("/api/benchmarks/tests/{test_id}", { params: { path: { test_id: testId } } })),
  });
}

/** The test files and their problems; refreshed when a file changes. */
export function useCatalogState() {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "state"],
    queryFn: () => dataOf(api.GET("/api/benchmarks/catalog")),
  });
}

/** The tests that a null agent passes. */
export function useAudit() {
  const { api } = useTeam();
  return useQuery({
    queryKey: [...keys.catalog, "audit"],
    queryFn: () => dataOf(api.GET("/api/benchmarks/audit")),
    // Only until the last test is audited.
    refetchInterval: (query) => (query.state.data?.pending ? AUDIT_AGAIN_MS : false),
  });
}

export function useStanding(testId: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.scores(team), "standing", testId],
    queryFn: () =>
      dataOf(
        api.GET("/api/benchmarks/tests/{test_id}/standing", {
          params: { path: { test_id: testId } },
        }),
      ),
  });
}

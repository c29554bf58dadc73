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

export type ReviewStatus = Schemas["Review"]["status"];

export function useReviews(status: ReviewStatus) {
  const { team, api } = useTeam();
  return useInfiniteQuery({
    queryKey: [...keys.reviews(team), "list", status],
    queryFn: ({ pageParam }) =>
      dataOf(
        api.GET("/api/reviews", { params: { query: { status, limit: 50, cursor: pageParam } } }),
      ),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
}

export function useReview(reviewId: string) {
  const { team, api } = useTeam();
  return useQuery({
    queryKey: [...keys.reviews(team), "one", reviewId],
    queryFn: () =>
      dataOf(api.GET("/api/reviews/{review_id}", { params: { path: { review_id: reviewId } } })),
  });
}

/** Answers items and returns the updated review. */
export function useAnswer(reviewId: string) {
  const { team, api } = useTeam();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (answers: Schemas["ReviewAnswers"]) =>
      dataOf(
        api.POST("/api/reviews/{review_id}", {
          params: { path: { review_id: reviewId } },
          body: answers,
        }),
      ),
    // One at a time: the newest answer must win.
    scope: { id: `review ${reviewId}` },
    onSuccess: (details) => {
      queries.setQueryData([...keys.reviews(team), "one", reviewId], details);
      void queries.invalidateQueries({ queryKey: [...keys.reviews(team), "list"] });
      // The last answer completes a run.
      if (details.review.status === "done")
        void queries.invalidateQueries({ queryKey: keys.runs(team) });
    },
  });
}

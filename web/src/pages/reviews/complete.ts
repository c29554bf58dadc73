import type { Schemas } from "../../api/queries";

export interface Given {
  index: number;
  reviewer: string;
}

/**
 * Whether a review has all its answers, including those just given here.
 * Answers may still be in flight, so they count from the moment they are given.
 */
export function isComplete(
  { items, review }: Schemas["ReviewDetails"],
  given: readonly Given[],
): boolean {
  return items.every((item, index) => {
    const reviewers = new Set([
      ...item.answers.filter((one) => one.is_standing).map((one) => one.reviewer),
      ...given.filter((one) => one.index === index).map((one) => one.reviewer),
    ]);
    return reviewers.size >= review.reviewers_needed;
  });
}

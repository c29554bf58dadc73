import type { Schemas } from "../../api/queries";

export interface Said {
  index: number;
  reviewer: string;
}

/**
 * Whether a review has all its answers, with those that were said here.
 * Answers may still be on their way, so what was said counts from the moment it was said.
 */
export function isComplete(
  { items, review }: Schemas["ReviewDetails"],
  said: readonly Said[],
): boolean {
  return items.every((item, index) => {
    const reviewers = new Set([
      ...item.answers.filter((one) => one.is_standing).map((one) => one.reviewer),
      ...said.filter((one) => one.index === index).map((one) => one.reviewer),
    ]);
    return reviewers.size >= review.reviewers_needed;
  });
}

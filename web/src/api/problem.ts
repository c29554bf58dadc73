import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];

/** Why a request was not done, as the server told it or as the browser saw it. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

/** The server could not be reached at all: nothing it said, so nothing to quote. */
export function unreachable(): ProblemError {
  return new ProblemError({
    type: "about:blank",
    title: "No connection",
    status: 0,
    code: "unreachable",
    detail: "The Arena server does not answer.",
    errors: [],
  });
}

/** Whether what the address names does not exist, or is no name of anything. */
export function isNowhere(problem: Problem): boolean {
  const misfits = problem.errors ?? [];
  const isMalformed = misfits.length > 0 && misfits.every(({ at }) => at.startsWith("path."));
  return problem.status === 404 || (problem.status === 422 && isMalformed);
}

/** An answer that is no problem+json, as a proxy may give it. */
export function unexpected(status: number): ProblemError {
  return new ProblemError({
    type: "about:blank",
    title: "Unexpected answer",
    status,
    code: "unexpected",
    detail: `The server answered with status ${status}.`,
    errors: [],
  });
}

/** Whatever was thrown, as a problem that can be shown. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof ProblemError) return thrown.problem;
  return {
    ...unreachable().problem,
    code: "fault",
    title: "Something went wrong",
    detail: String(thrown),
  };
}

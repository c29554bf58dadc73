import type { components } from "./schema";

export type Problem = components["schemas"]["Problem"];

/** Why a request failed, from the server or from the browser. */
export class ProblemError extends Error {
  readonly problem: Problem;

  constructor(problem: Problem) {
    super(problem.detail);
    this.name = "ProblemError";
    this.problem = problem;
  }
}

/** The server could not be reached at all. */
export function unreachable(): ProblemError {
  return new ProblemError({
    type: "about:blank",
    title: "No connection",
    status: 0,
    code: "unreachable",
    detail: "The Arena server is not responding.",
    errors: [],
  });
}

/** Whether the address names nothing that exists, or nothing that could. */
export function isNotFound(problem: Problem): boolean {
  const misfits = problem.errors ?? [];
  const isMalformed = misfits.length > 0 && misfits.every(({ at }) => at.startsWith("path."));
  return problem.status === 404 || (problem.status === 422 && isMalformed);
}

/** An error without problem+json, for example from a proxy. */
export function unexpected(status: number): ProblemError {
  return new ProblemError({
    type: "about:blank",
    title: "Unexpected response",
    status,
    code: "unexpected",
    detail: `The server responded with status ${status}.`,
    errors: [],
  });
}

/** Whatever was thrown, as a problem to display. */
export function asProblem(thrown: unknown): Problem {
  if (thrown instanceof ProblemError) return thrown.problem;
  return {
    ...unreachable().problem,
    code: "fault",
    title: "Something went wrong",
    detail: String(thrown),
  };
}

import createClient, { type Client, createQuerySerializer } from "openapi-fetch";
import { ProblemError, unexpected, unreachable } from "./problem";
import type { paths } from "./schema";
import { authorization } from "./token";

export type Api = Client<paths>;

const serialize = createQuerySerializer();

/** A client that sends the team, and the token if there is one, with every request. */
export function apiOf(team: string): Api {
  const client = createClient<paths>({
    baseUrl: window.location.origin,
    // In the query, not in a header: a header cannot hold every possible team name.
    querySerializer: (query) => serialize({ ...query, team_id: team }),
  });
  client.use({
    onRequest({ request }) {
      for (const [name, value] of Object.entries(authorization())) request.headers.set(name, value);
      return request;
    },
    onError() {
      return unreachable();
    },
  });
  return client;
}

interface Answer<T> {
  data?: T;
  error?: unknown;
  response: Response;
}

/** The data of a response; throws its problem if it has one. */
export async function dataOf<T>(answer: Promise<Answer<T>>): Promise<T> {
  const { data, error, response } = await answer;
  if (response.ok && data !== undefined) return data;
  if (isProblem(error)) throw new ProblemError(error);
  throw unexpected(response.status);
}

function isProblem(value: unknown): value is ProblemError["problem"] {
  return typeof value === "object" && value !== null && "detail" in value && "code" in value;
}

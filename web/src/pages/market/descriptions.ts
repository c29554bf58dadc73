import type { Schemas } from "../../api/queries";
import { isOnChain } from "./ledgers";

type Described = Pick<Schemas["Task"], "id" | "description" | "ledger">;

const FIRST_CHARACTERS = 120;
/** A chain has only the CID of a description; until its text is found, this stands in for it. */
const PLACEHOLDER = /^ipfs:\/\/(\S+)$/;

/** The CID of a description that is not here yet; undefined if there is a description. */
export function missingDescription(task: Described): string | undefined {
  return isOnChain(task) ? task.description.match(PLACEHOLDER)?.[1] : undefined;
}

/** The first line of a description, as far as a title goes. */
export function titleOf(task: Described): string {
  const cid = missingDescription(task);
  const text = cid ? `The description is not here yet: ${cid}` : task.description;
  // Anybody can post a task on a chain, also one whose description is blank.
  const line = text.trim().split("\n")[0] || `Task ${task.id}`;
  return line.length > FIRST_CHARACTERS ? `${line.slice(0, FIRST_CHARACTERS)}…` : line;
}

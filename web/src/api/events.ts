import { ProblemError, unexpected } from "./problem";
import { authorization } from "./token";

export interface ServerEvent {
  name: string;
  data: unknown;
}

/**
 * The events of a stream, until it ends or breaks.
 *
 * Not the browser's EventSource, which cannot send a token.
 */
export async function* eventsOf(
  path: string,
  signal: AbortSignal,
  onSign: () => void,
): AsyncGenerator<ServerEvent> {
  const response = await fetch(path, { headers: authorization(), signal, cache: "no-store" });
  if (!response.ok || !response.body) {
    const problem = await response.json().catch(() => null);
    throw problem?.detail ? new ProblemError(problem) : unexpected(response.status);
  }
  onSign();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onSign();
    const blocks = (rest + value).split("\n\n");
    rest = blocks.pop() ?? "";
    for (const block of blocks) {
      const event = parsed(block);
      if (event) yield event;
    }
  }
}

function parsed(block: string): ServerEvent | null {
  let name = "message";
  let data = "";
  for (const line of block.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data += line.slice(6);
  }
  return data ? { name, data: JSON.parse(data) } : null;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
const OPENS = new Set(["{", "["]);
const CLOSES = new Set(["}", "]"]);

/** Indents JSON without changing any other character; other text is returned as it is. */
export function indented(text: string): string {
  if (!isJson(text)) return text;
  let result = "";
  let depth = 0;
  let before = "";
  for (const [token] of text.matchAll(TOKENS)) {
    if (CLOSES.has(token)) depth--;
    const isEmpty = CLOSES.has(token) && OPENS.has(before);
    const isFirst = OPENS.has(before) || before === ",";
    if (!isEmpty && (isFirst || CLOSES.has(token))) result += `\n${"  ".repeat(depth)}`;
    result += token === ":" ? ": " : token;
    if (OPENS.has(token)) depth++;
    before = token;
  }
  return result;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

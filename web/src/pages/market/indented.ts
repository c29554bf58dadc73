const TOKENS = /"(?:[^"\\]|\\.)*"|[[\]{},:]|[^\s"[\]{},:]+/g;
const OPENS = new Set(["{", "["]);
const CLOSES = new Set(["}", "]"]);

/** JSON with lines and spaces to read it by; every other character stays, and so does other text. */
export function indented(text: string): string {
  if (!isJson(text)) return text;
  let told = "";
  let depth = 0;
  let before = "";
  for (const [token] of text.matchAll(TOKENS)) {
    if (CLOSES.has(token)) depth--;
    const isEmpty = CLOSES.has(token) && OPENS.has(before);
    const isFirst = OPENS.has(before) || before === ",";
    if (!isEmpty && (isFirst || CLOSES.has(token))) told += `\n${"  ".repeat(depth)}`;
    told += token === ":" ? ": " : token;
    if (OPENS.has(token)) depth++;
    before = token;
  }
  return told;
}

function isJson(text: string): boolean {
  try {
    return typeof JSON.parse(text) === "object";
  } catch {
    return false;
  }
}

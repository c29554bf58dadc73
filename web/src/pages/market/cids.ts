const CID = "(?:b[a-z2-7]{50,}|z[1-9A-HJ-NP-Za-km-z]{45,}|Qm[1-9A-HJ-NP-Za-km-z]{44})";
const WHOLE = new RegExp(`^${CID}$`);
const WITHIN = new RegExp(`\\b${CID}\\b`, "g");

/** Whether a text is the name of content, by its look. */
export function isCid(text: string): boolean {
  return WHOLE.test(text);
}

/** The contents that a text speaks of, each once. */
export function cidsIn(text: string): string[] {
  return [...new Set(text.match(WITHIN))];
}

const CID = "(?:b[a-z2-7]{50,}|z[1-9A-HJ-NP-Za-km-z]{45,}|Qm[1-9A-HJ-NP-Za-km-z]{44})";
const WHOLE = new RegExp(`^${CID}$`);
const WITHIN = new RegExp(`\\b${CID}\\b`, "g");

/** Whether a text looks like a CID. */
export function isCid(text: string): boolean {
  return WHOLE.test(text);
}

/** The CIDs in a text, each once. */
export function cidsIn(text: string): string[] {
  return [...new Set(text.match(WITHIN))];
}

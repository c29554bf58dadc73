/** Reads the untyped values of a standard, which arrives as it was written in its file. */

export function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

export function asText(value: unknown): string {
  return typeof value === "string" ? value : (JSON.stringify(value) ?? "");
}

/** A YAML key as a label: "contains_any" becomes "contains any". */
export function inWords(key: string): string {
  return key.replaceAll("_", " ");
}

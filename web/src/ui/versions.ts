/** Semantic versions, from old to new, in the order of the server; other texts come last. */
export function byVersion(one: string, other: string): number {
  const [a, b] = [parsed(one), parsed(other)];
  if (!a || !b) return Number(!a) - Number(!b) || compared(one, other);
  const numbers = compared(a.numbers, b.numbers);
  if (numbers !== 0) return numbers;
  // 1.0.0-rc.1 comes before 1.0.0.
  if (!a.label || !b.label) return Number(!a.label) - Number(!b.label);
  return compared(a.label, b.label);
}

function parsed(version: string) {
  const match = /^(\d+(?:\.\d+)*)(?:-([^+]*))?(?:\+.*)?$/.exec(version);
  return match && { numbers: match[1] ?? "", label: match[2] ?? "" };
}

function compared(one: string, other: string): number {
  return one.localeCompare(other, "en", { numeric: true });
}

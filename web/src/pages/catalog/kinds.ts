const NAMES: Record<string, string> = {
  exact: "exact text",
  contains: "all words",
  contains_any: "any of the words",
  not_contains: "none of the words",
  regex: "pattern",
  json_schema: "JSON schema",
  number: "number",
  all_of: "all of several",
  any_of: "any of several",
  test_cases: "test cases",
  judge_prompt: "judge",
  checklist: "checklist",
};

/** What a kind of standard is called. */
export function kindName(kind: string): string {
  return NAMES[kind] ?? kind;
}

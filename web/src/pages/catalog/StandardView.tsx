import { List, Stack, Text } from "@mantine/core";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { CaseTable } from "./CaseTable";
import { kindName } from "./kinds";
import { asList, asNumber, asRecord, asText } from "./reading";
import classes from "./standard.module.css";

interface StandardViewProps {
  kind: string;
  body: Record<string, unknown>;
  /** What the test says beside its standard. */
  flags?: { case_sensitive?: boolean | null; whole_word?: boolean; pass_score?: number | null };
}

/** What a good answer is, as a person reads it. What is unknown here is shown as it was written. */
export function StandardView({ kind, body, flags = {} }: StandardViewProps) {
  return (
    <Stack gap="xs">
      <Rule kind={kind} body={body} />
      <Notes kind={kind} body={body} flags={flags} />
    </Stack>
  );
}

function Rule({ kind, body }: StandardViewProps) {
  switch (kind) {
    case "exact":
      return <Told words="The answer is exactly:" values={[asText(body.value)]} />;
    case "contains":
      return <Told words="The answer has all of:" values={asList(body.contains).map(asText)} />;
    case "contains_any":
      return <Told words="The answer has any of:" values={asList(body.contains).map(asText)} />;
    case "not_contains":
      return <Told words="The answer has none of:" values={asList(body.contains).map(asText)} />;
    case "regex":
      return <Told words="In the answer is found the pattern:" values={[asText(body.pattern)]} />;
    case "number":
      return (
        <Text>
          The last number in the answer is <code>{asText(body.value)}</code>
          {asNumber(body.tolerance) ? <>, give or take {asText(body.tolerance)}</> : null}.
        </Text>
      );
    case "json_schema":
      return (
        <>
          <Text>The answer is JSON that fits this schema:</Text>
          <UntrustedBlock label="Schema" text={JSON.stringify(body.schema, null, 2)} />
        </>
      );
    case "test_cases":
      return <CaseTable body={body} />;
    case "judge_prompt":
      return <Judge body={body} />;
    case "checklist":
      return (
        <>
          <Text>A person answers each item with pass or fail:</Text>
          <List type="ordered" className={classes.items}>
            {asList(body.items).map((item) => (
              <List.Item key={asText(item)}>
                <Untrusted text={asText(item)} />
              </List.Item>
            ))}
          </List>
        </>
      );
    case "all_of":
    case "any_of":
      return <Parts needed={kind} parts={asList(body[kind])} />;
    default:
      return <UntrustedBlock label="Expected" text={JSON.stringify(body, null, 2)} />;
  }
}

function Told({ words, values }: { words: string; values: string[] }) {
  return (
    <>
      <Text>{words}</Text>
      <ul className={classes.words}>
        {values.map((value) => (
          <li key={value}>
            <Untrusted text={value} />
          </li>
        ))}
      </ul>
    </>
  );
}

function Judge({ body }: { body: Record<string, unknown> }) {
  const criteria = asList(body.criteria).map(asText);
  const weights = asList(body.weights).map(asNumber);
  const models = asList(asRecord(body.judge).models).map(asText);
  return (
    <>
      <Text>A model scores the answer from 0 to 100 by this:</Text>
      <UntrustedBlock label="What the judge is told" text={asText(body.prompt)} />
      {criteria.length > 0 && (
        <List className={classes.items}>
          {criteria.map((criterion, index) => (
            <List.Item key={criterion}>
              <Untrusted text={criterion} />
              {weights[index] !== undefined && (
                <Text span c="dimmed" size="sm">
                  {" "}
                  weight {weights[index]}
                </Text>
              )}
            </List.Item>
          ))}
        </List>
      )}
      {models.length > 0 && (
        <Text size="sm">
          Asked of <Untrusted text={models.join(", ")} />.
        </Text>
      )}
    </>
  );
}

function Parts({ needed, parts }: { needed: "all_of" | "any_of"; parts: unknown[] }) {
  return (
    <>
      <Text>{needed === "all_of" ? "All of these hold:" : "One of these is enough:"}</Text>
      <ol className={classes.parts}>
        {parts.map(asRecord).map((part, index) => {
          const { type, validation, expected, weight, ...rest } = part;
          const kind = asText(type ?? validation ?? "contains");
          return (
            // Two parts may say the same: their order is what they are known by.
            <li key={index}>
              <Text size="sm" c="dimmed">
                {kindName(kind)}
                {weight !== undefined && `, weight ${asText(weight)}`}
              </Text>
              <StandardView
                kind={kind}
                body={type === undefined ? asRecord(expected) : rest}
                flags={{
                  case_sensitive:
                    typeof rest.case_sensitive === "boolean" ? rest.case_sensitive : null,
                  whole_word: rest.whole_word === true,
                }}
              />
            </li>
          );
        })}
      </ol>
    </>
  );
}

const WORDS = ["exact", "contains", "contains_any", "not_contains", "regex"];
const GRADED = ["test_cases", "judge_prompt", "checklist"];
const ENOUGH = 60;

function Notes({ kind, body, flags = {} }: StandardViewProps) {
  const notes: string[] = [];
  const minds = flags.case_sensitive ?? kind === "exact";
  if (WORDS.includes(kind)) notes.push(minds ? "Case matters." : "Case does not matter.");
  if (flags.whole_word) notes.push("Only whole words count.");
  const enough = flags.pass_score ?? asNumber(body.pass_score);
  if (GRADED.includes(kind) || enough !== undefined)
    notes.push(`It passes from ${enough ?? ENOUGH} of 100 on.`);
  if (notes.length === 0) return null;
  return (
    <Text size="sm" c="dimmed">
      {notes.join(" ")}
    </Text>
  );
}

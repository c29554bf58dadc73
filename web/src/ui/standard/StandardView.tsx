import { Stack, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../Untrusted";
import { UntrustedBlock } from "../UntrustedBlock";
import { CaseTable } from "./CaseTable";
import { asRecord, asText, inWords } from "./reading";
import classes from "./standard.module.css";

interface StandardViewProps {
  kind: string;
  body: Record<string, unknown>;
  /** Options that the test sets beside its standard. */
  options?: Record<string, unknown>;
}

/** A longer text gets a block of its own. */
const LINE_CHARACTERS = 100;

/**
 * What a good answer is, field by field, under the names of the YAML file.
 * It knows the shapes of values and no kind of standard, so a new kind needs no change here.
 */
function StandardView({ kind, body, options = {} }: StandardViewProps) {
  const hasCases = Array.isArray(body.cases);
  const { cases, sealed, functionName, ...rest } = body;
  const fields = Object.entries({ ...(hasCases ? rest : body), ...options });
  return (
    <Stack gap="xs">
      <Text fw={600}>{inWords(kind)}</Text>
      {hasCases && <CaseTable body={body} />}
      {fields
        .filter(([, value]) => value !== null && value !== undefined && value !== false)
        .map(([name, value]) => (
          <Field key={name} name={inWords(name)} value={value} />
        ))}
    </Stack>
  );
}

/** The standard of a test, with the options that stand beside it. */
export function TestStandard({ test }: { test: Schemas["Test"] }) {
  const { case_sensitive, whole_word, pass_score } = test;
  return (
    <StandardView
      kind={test.validation_type}
      body={test.expected_output}
      options={{ case_sensitive, whole_word, pass_score }}
    />
  );
}

/** A standard as a document, as tasks and reviews have it: its kind is its `type`. */
export function StandardDocument({ document }: { document: Record<string, unknown> }) {
  const { type, ...body } = document;
  return <StandardView kind={asText(type ?? "standard")} body={body} />;
}

function Field({ name, value }: { name: string; value: unknown }) {
  if (Array.isArray(value) && value.some(isStandard)) return <Parts parts={value.map(asRecord)} />;
  if (isStandard(value)) return <Parts parts={[asRecord(value)]} />;
  return <PlainField name={name} value={value} />;
}

/** One field of a test that is no standard, by the shape of its value. */
export function PlainField({ name, value }: { name: string; value: unknown }) {
  if (isFiles(name, value)) return <Files name={name} files={asRecord(value)} />;
  if (Array.isArray(value)) return <Values name={name} values={value.map(asText)} />;
  if (isFlat(value))
    return (
      <Values
        name={name}
        values={Object.entries(asRecord(value)).map(
          ([key, one]) => `${inWords(key)}: ${asText(one)}`,
        )}
      />
    );
  if (typeof value === "object") return <Block name={name} text={JSON.stringify(value, null, 2)} />;
  const text = asText(value);
  if (text.length > LINE_CHARACTERS || text.includes("\n"))
    return <Block name={name} text={text} />;
  return <Values name={name} values={[text]} />;
}

function Values({ name, values }: { name: string; values: string[] }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <ul className={classes.words}>
        {values.map((value, index) => (
          // Two values may be equal, so the index is the key.
          <li key={index}>
            <Untrusted text={value} />
          </li>
        ))}
      </ul>
    </div>
  );
}

function Block({ name, text }: { name: string; text: string }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      <UntrustedBlock label={name} text={text} />
    </div>
  );
}

/** The files of a workspace, or those laid over it, each behind its name. */
function Files({ name, files }: { name: string; files: Record<string, unknown> }) {
  return (
    <div>
      <Text size="sm" c="dimmed">
        {name}
      </Text>
      {Object.entries(files).map(([path, content]) => (
        <details key={path}>
          <summary>
            <Untrusted text={path} />
          </summary>
          <UntrustedBlock
            label={path}
            text={typeof content === "string" ? content : JSON.stringify(content, null, 2)}
          />
        </details>
      ))}
    </div>
  );
}

function isFiles(name: string, value: unknown): boolean {
  return ["hidden", "files"].includes(name) && Object.keys(asRecord(value)).length > 0;
}

/** Whether a mapping has only single values, or lists of them: `{at_least: 2, at_most: 3}`. */
function isFlat(value: unknown): boolean {
  const values = Object.values(asRecord(value));
  return values.length > 0 && values.flat().every((one) => typeof one !== "object");
}

/** Standards within a standard: a part names its kind as `type`, or as `validation` like a test. */
function Parts({ parts }: { parts: Record<string, unknown>[] }) {
  return (
    <ol className={classes.parts}>
      {parts.map(({ type, validation, expected, ...rest }, index) => (
        // Two parts may be equal, so the index is the key.
        <li key={index}>
          <StandardView
            kind={asText(type ?? validation ?? "contains")}
            body={{ ...asRecord(expected), ...rest }}
          />
        </li>
      ))}
    </ol>
  );
}

function isStandard(value: unknown): boolean {
  const part = asRecord(value);
  return "type" in part || "validation" in part || "expected" in part;
}

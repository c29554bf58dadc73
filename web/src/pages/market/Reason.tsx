import { Text } from "@mantine/core";
import { useText } from "../../api/content";
import type { Schemas } from "../../api/queries";
import { Findings } from "../../ui/Findings";
import { Loading } from "../../ui/Loading";
import { ProblemNote } from "../../ui/ProblemNote";
import { asList, asRecord, asText } from "../../ui/standard/reading";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { isCid } from "./cids";
import { Evidence } from "./Evidence";
import { parsed } from "./parsed";

/** Why somebody decided as they did: a verdict record with its findings, or their own words. */
export function Reason({ uri }: { uri: string | null }) {
  if (!uri) return null;
  return (
    <>
      {isCid(uri) && <Stored cid={uri} />}
      <Evidence label="Reason" uri={uri} />
    </>
  );
}

function Stored({ cid }: { cid: string }) {
  const { text, error, isPending } = useText(cid);
  if (isPending) return <Loading what="the reason" rows={1} />;
  if (error) return <ProblemNote error={error} />;
  if (text === undefined) return null;
  const record = asRecord(parsed(text));
  if (!asText(record.kind).startsWith("arena.verdict/"))
    return <UntrustedBlock label="Reason" text={text} />;
  const { reasoning, findings } = asRecord(record.verdict);
  return (
    <>
      {typeof reasoning === "string" && (
        <Text mt="xs">
          <Untrusted text={reasoning} />
        </Text>
      )}
      <Findings findings={asList(findings).map(finding)} />
    </>
  );
}

/** A finding of a record; content is checked, because anybody may have written it. */
function finding(value: unknown): Schemas["Finding"] {
  const { criterion, passed, reason, evidence } = asRecord(value);
  return {
    criterion: asText(criterion),
    passed: passed === true,
    reason: asText(reason),
    evidence: typeof evidence === "string" ? evidence : null,
    score: null,
    weight: null,
    mark: null,
  };
}

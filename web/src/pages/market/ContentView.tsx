import { Text, Title } from "@mantine/core";
import { Link } from "wouter";
import { useContent } from "../../api/content";
import { BackLink } from "../../ui/BackLink";
import { Loading } from "../../ui/Loading";
import { amount } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { cidsIn } from "./cids";
import { indented } from "./indented";
import classes from "./market.module.css";

const RECORD = /^\{"kind":"arena\.verdict\//;
/** So many are listed: a result may be a list of a million. */
const MOST_NAMED = 20;

/** The content that a CID names, as text. */
export function ContentView({ cid }: { cid: string }) {
  const { data, error, refetch } = useContent(cid);
  const text = data && textOf(data);
  const named = text ? cidsIn(text).slice(0, MOST_NAMED) : [];
  return (
    <Page
      title="Content"
      before={<BackLink href="/market">The market</BackLink>}
      lead={
        <code>
          <Untrusted text={cid} />
        </code>
      }
    >
      {error && <ProblemNote error={error} onRetry={refetch} />}
      {!error && !data && <Loading what="the content" />}
      {data && (
        <Text size="sm">
          {amount(data.byteLength, "byte")}, verified: they have this hash. To keep them, in a
          terminal: <code className={classes.evidence}>arena content get {cid}</code>
          {text && RECORD.test(text) && (
            <>
              . It is the record of a verdict. To check it:{" "}
              <code className={classes.evidence}>arena verify {cid}</code>
            </>
          )}
        </Text>
      )}
      {text !== undefined && <UntrustedBlock label="Content" text={indented(text)} />}
      {data && text === undefined && <Text>It is not text.</Text>}
      {named.length > 0 && (
        <section aria-label="Speaks of">
          <Title order={2} size="h4" mb="xs">
            Speaks of
          </Title>
          <ul className={classes.named}>
            {named.map((one) => (
              <li key={one}>
                <Link href={`/market/content/${one}`}>{one}</Link>
              </li>
            ))}
          </ul>
        </section>
      )}
    </Page>
  );
}

function textOf(data: ArrayBuffer): string | undefined {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

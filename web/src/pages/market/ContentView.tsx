import { Text, Title } from "@mantine/core";
import { Link } from "wouter";
import { textOf, useContent } from "../../api/content";
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
/** References listed at most: a result may have a million. */
const MOST_NAMED = 20;

/** The content that a CID names, as text. */
export function ContentView({ cid }: { cid: string }) {
  const { data, error, refetch } = useContent(cid);
  const text = data && textOf(data);
  const named = text ? cidsIn(text).slice(0, MOST_NAMED) : [];
  return (
    <Page
      title="Content"
      before={<BackLink href="/market">Back to the market</BackLink>}
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
          {amount(data.byteLength, "byte")}, verified against this hash. To download it in a
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
      {data && text === undefined && <Text>This content is not text.</Text>}
      {named.length > 0 && (
        <section aria-label="References">
          <Title order={2} size="h4" mb="xs">
            References
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

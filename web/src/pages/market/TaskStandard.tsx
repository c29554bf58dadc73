import { Paper, Title } from "@mantine/core";
import { useText } from "../../api/content";
import { Loading } from "../../ui/Loading";
import { ProblemNote } from "../../ui/ProblemNote";
import { asRecord } from "../../ui/standard/reading";
import { StandardDocument } from "../../ui/standard/StandardView";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { Evidence } from "./Evidence";
import { parsed } from "./parsed";

/** What a result of a task has to fulfil. */
export function TaskStandard({ cid }: { cid: string }) {
  const { text, error, isPending } = useText(cid);
  const document = text === undefined ? {} : asRecord(parsed(text));
  return (
    <Paper withBorder p="lg" component="section" aria-label="Standard">
      <Title order={2} size="h4" mb="xs">
        Standard
      </Title>
      {isPending && <Loading what="the standard" rows={1} />}
      {error && <ProblemNote error={error} />}
      {"type" in document ? (
        <StandardDocument document={document} />
      ) : (
        text !== undefined && <UntrustedBlock label="Content" text={text} />
      )}
      <Evidence label="Standard" uri={cid} />
    </Paper>
  );
}

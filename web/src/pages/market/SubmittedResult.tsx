import { Text } from "@mantine/core";
import { useText } from "../../api/content";
import { Loading } from "../../ui/Loading";
import { ProblemNote } from "../../ui/ProblemNote";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { Evidence } from "./Evidence";

/** The result that an agent submitted, as text. */
export function SubmittedResult({ cid }: { cid: string }) {
  const { text, error, isPending } = useText(cid);
  return (
    <>
      {isPending && <Loading what="the result" rows={1} />}
      {error && <ProblemNote error={error} />}
      {text !== undefined && <UntrustedBlock label="Result" text={text} />}
      {!isPending && !error && text === undefined && (
        <Text c="dimmed">The result is not text. Download it to look at it.</Text>
      )}
      <Evidence label="Result" uri={cid} />
    </>
  );
}

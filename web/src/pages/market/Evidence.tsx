import { Text } from "@mantine/core";
import { Link } from "wouter";
import { Untrusted } from "../../ui/Untrusted";
import { isCid } from "./cids";
import classes from "./market.module.css";

interface EvidenceProps {
  /** What it is: "The reason". */
  label: string;
  /** A CID leads to the content; any other address is shown and leads nowhere. */
  uri: string | null;
}

/** Where something can be seen that a task's money depends on. */
export function Evidence({ label, uri }: EvidenceProps) {
  if (!uri) return null;
  return (
    <Text size="sm" mt={4} className={classes.evidence}>
      {isCid(uri) ? <Link href={`/market/content/${uri}`}>{label}</Link> : label}:{" "}
      <code>
        <Untrusted text={uri} />
      </code>
    </Text>
  );
}

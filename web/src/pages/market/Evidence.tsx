import { Text } from "@mantine/core";
import { Link } from "wouter";
import { Untrusted } from "../../ui/Untrusted";
import { isCid } from "./cids";
import classes from "./market.module.css";

interface EvidenceProps {
  /** Its label: "Reason". */
  label: string;
  /** A CID is linked to its content; any other address is only displayed. */
  uri: string | null;
}

/** A piece of evidence that a task's payment depends on. */
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

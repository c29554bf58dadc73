import { Text } from "@mantine/core";
import type { Schemas } from "../api/queries";
import classes from "./Findings.module.css";
import { Outcome } from "./Outcome";
import { Untrusted } from "./Untrusted";

/** The findings of a verdict, with their evidence. */
export function Findings({ findings }: { findings: Schemas["Finding"][] }) {
  if (findings.length === 0) return <Text c="dimmed">No findings: the agent did not answer.</Text>;
  return (
    <ul className={classes.findings}>
      {findings.map((finding, index) => (
        // Two findings may be equal, so the index is the key.
        <li key={index} className={classes.finding}>
          <Outcome passed={finding.passed} />
          <div className={classes.text}>
            <Text fw={600}>
              <Untrusted text={finding.criterion} />
            </Text>
            {finding.reason !== finding.criterion && (
              <Text size="sm">
                <Untrusted text={finding.reason} />
              </Text>
            )}
            {finding.evidence && (
              <blockquote className={classes.evidence}>
                <Untrusted text={finding.evidence} />
              </blockquote>
            )}
          </div>
        </li>
      ))}
    </ul>
  );
}

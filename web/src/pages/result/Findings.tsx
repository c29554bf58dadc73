import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Outcome } from "../../ui/Outcome";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./Findings.module.css";

/** Each thing that was looked for, whether it was there, and where. */
export function Findings({ findings }: { findings: Schemas["Finding"][] }) {
  if (findings.length === 0)
    return <Text c="dimmed">There was nothing to look at: no answer came.</Text>;
  return (
    <ul className={classes.findings}>
      {findings.map((finding, index) => (
        // Two findings may say the same: their order is what they are known by.
        <li key={index} className={classes.finding}>
          <Outcome passed={finding.passed} />
          <div className={classes.told}>
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

import { Paper, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { useFew } from "../../ui/useFew";
import { When } from "../../ui/When";
import classes from "./Steps.module.css";

/** An agent may report a thousand steps. */
const FIRST_STEPS = 20;

/** The tools that an agent called, in order. */
export function Steps({ steps }: { steps: Schemas["Step"][] }) {
  const { shown, note } = useFew(steps, FIRST_STEPS);
  return (
    <Paper withBorder p="lg" component="section" aria-label="Steps">
      <Title order={2} size="h4">
        Steps
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        The tools that the agent called, as it reported them.
      </Text>
      <ol className={classes.steps}>
        {shown.map((step, index) => (
          // Two steps may be equal, so the index is the key.
          <li key={index} className={classes.step}>
            <Text fw={600}>
              <Untrusted text={step.tool} />
              {step.time && (
                <Text span size="sm" c="dimmed" fw={400}>
                  {" "}
                  · <When at={step.time} />
                </Text>
              )}
            </Text>
            <Value
              label={`Arguments of step ${index + 1}`}
              name="Arguments"
              value={step.arguments}
            />
            <Value label={`Result of step ${index + 1}`} name="Result" value={step.result} />
          </li>
        ))}
      </ol>
      {note}
    </Paper>
  );
}

/** A JSON value; text is shown as it is. */
function Value({ label, name, value }: { label: string; name: string; value: unknown }) {
  if (value === null || value === undefined) return null;
  return (
    <>
      <Text size="sm" c="dimmed" mt={6}>
        {name}
      </Text>
      <UntrustedBlock
        label={label}
        text={typeof value === "string" ? value : JSON.stringify(value, null, 2)}
      />
    </>
  );
}

import { Text } from "@mantine/core";
import type { Schemas } from "../api/queries";
import classes from "./StepList.module.css";
import { Untrusted } from "./Untrusted";
import { UntrustedBlock } from "./UntrustedBlock";
import { useFew } from "./useFew";
import { When } from "./When";

/** An agent may report a thousand steps. */
const FIRST_STEPS = 20;

/** Who says that a step happened: only what Arena played itself is known. */
const SOURCES = {
  agent: "claimed by the agent",
  trace: "from the agent's trace",
  arena: "played by Arena",
} as const;

/** Tool calls in order, each with its source, arguments and result. */
export function StepList({ steps }: { steps: Schemas["Step"][] }) {
  const { shown, note } = useFew(steps, FIRST_STEPS);
  return (
    <>
      <ol className={classes.steps}>
        {shown.map((step, index) => (
          // Two steps may be equal, so the index is the key.
          <li key={index} className={classes.step}>
            <Text fw={600}>
              <Untrusted text={step.tool} />
              <Text span size="sm" c="dimmed" fw={400}>
                {" "}
                · {SOURCES[step.source ?? "agent"]}
                {step.time && (
                  <>
                    {" "}
                    · <When at={step.time} />
                  </>
                )}
              </Text>
            </Text>
            <Value
              label={`Arguments of step ${index + 1}`}
              name="Arguments"
              value={step.arguments}
            />
            <Value label={`Result of step ${index + 1}`} name="Result" value={step.result} />
            <Value label={`Error of step ${index + 1}`} name="Error" value={step.error} />
          </li>
        ))}
      </ol>
      {note}
    </>
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

import { Paper, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { StepList } from "../../ui/StepList";

/** The tools that an agent called, in order. */
export function Steps({ steps }: { steps: Schemas["Step"][] }) {
  const isKnown = steps.every((step) => step.source === "arena");
  return (
    <Paper withBorder p="lg" component="section" aria-label="Steps">
      <Title order={2} size="h4">
        Steps
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {isKnown
          ? "The tools that the agent called. Arena played them."
          : "The tools that the agent called. Arena knows only those that it played; the others are claims of the agent."}
      </Text>
      <StepList steps={steps} />
    </Paper>
  );
}

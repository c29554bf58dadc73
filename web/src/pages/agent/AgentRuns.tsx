import { Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/queries";
import { RunTable } from "../benchmarks/RunTable";

interface AgentRunsProps {
  runs?: Schemas["Run"][];
  more: ReactNode;
}

/** The newest runs of an agent. */
export function AgentRuns({ runs, more }: AgentRunsProps) {
  if (!runs) return null;
  return (
    <section aria-label="Runs">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h4">
          Runs
        </Title>
        {more}
      </Group>
      {runs.length > 0 ? (
        <RunTable runs={runs} />
      ) : (
        <Text c="dimmed">It has not been benchmarked yet: press ⚡ Benchmark.</Text>
      )}
    </section>
  );
}

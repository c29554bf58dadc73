import { Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/queries";
import { RunTable } from "../benchmarks/RunTable";

interface AgentRunsProps {
  runs?: Schemas["Run"][];
  more: ReactNode;
  /** Whether its file is here, so that it can be run. */
  isHere: boolean;
}

/** The newest runs of an agent. */
export function AgentRuns({ runs, more, isHere }: AgentRunsProps) {
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
        <Text c="dimmed">
          Not benchmarked yet{isHere ? ". Press Benchmark at the top of the page." : "."}
        </Text>
      )}
    </section>
  );
}

import { Button, Group, Paper, Text, Title } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { Chart, Rows } from "./icons";
import { Untrusted } from "./Untrusted";

interface ChartCardProps {
  title: string;
  lead?: string;
  chart: ReactNode;
  /** The same numbers as a table, for readers who cannot use the chart. */
  table: ReactNode;
}

/** A chart that can be switched to a table of the same numbers. */
export function ChartCard({ title, lead, chart, table }: ChartCardProps) {
  const [asTable, setAsTable] = useState(false);
  return (
    <Paper withBorder p="lg" component="section" aria-label={title}>
      <Group justify="space-between" align="flex-start" mb="md" gap="xs">
        <div style={{ flex: "1 1 14rem" }}>
          <Title order={2} size="h4">
            <Untrusted text={title} />
          </Title>
          {lead && (
            <Text size="sm" c="dimmed">
              {lead}
            </Text>
          )}
        </div>
        <Button
          size="compact-sm"
          variant="default"
          leftSection={asTable ? <Chart /> : <Rows />}
          onClick={() => setAsTable(!asTable)}
        >
          {asTable ? "Show as chart" : "Show as table"}
        </Button>
      </Group>
      {asTable ? table : chart}
    </Paper>
  );
}

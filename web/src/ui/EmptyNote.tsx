import { Paper, Stack, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface EmptyNoteProps {
  title: string;
  children: ReactNode;
  /** What to do next. */
  action?: ReactNode;
}

/** Shown where there is nothing: why, and what to do about it. */
export function EmptyNote({ title, children, action }: EmptyNoteProps) {
  return (
    <Paper withBorder p="xl" ta="center">
      <Stack align="center" gap="sm" py="lg">
        <Title order={2} size="h4">
          {title}
        </Title>
        <Text c="dimmed" maw={520} component="div">
          {children}
        </Text>
        {action}
      </Stack>
    </Paper>
  );
}

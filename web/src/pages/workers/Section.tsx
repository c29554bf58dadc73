import { Group, Title } from "@mantine/core";
import type { ReactNode } from "react";

interface SectionProps {
  title: string;
  /** Beside the title: a filter. */
  aside?: ReactNode;
  children: ReactNode;
}

/** A part of the page, with its heading. */
export function Section({ title, aside, children }: SectionProps) {
  return (
    <section aria-label={title}>
      <Group justify="space-between" align="flex-end" mb="xs">
        <Title order={2} size="h4">
          {title}
        </Title>
        {aside}
      </Group>
      {children}
    </section>
  );
}

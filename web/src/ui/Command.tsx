import { Code, Group, Text } from "@mantine/core";
import { CopyButton } from "./CopyButton";

interface CommandProps {
  /** What it does. */
  purpose: string;
  children: string;
}

/** A command for a terminal, to copy. */
export function Command({ purpose, children }: CommandProps) {
  return (
    <div>
      <Text size="sm" fw={600}>
        {purpose}
      </Text>
      <Group gap="xs" mb="sm" align="flex-start" wrap="nowrap">
        <Code block style={{ flex: 1, minWidth: 0, whiteSpace: "pre-wrap" }}>
          {children}
        </Code>
        <CopyButton what={purpose} text={children} />
      </Group>
    </div>
  );
}

import { Button, Code, CopyButton, Group, Text } from "@mantine/core";

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
        <CopyButton value={children}>
          {({ copied, copy }) => (
            <Button
              size="compact-sm"
              variant="default"
              onClick={copy}
              aria-label={`${copied ? "Copied" : "Copy"}: ${purpose}`}
            >
              {copied ? "Copied" : "Copy"}
            </Button>
          )}
        </CopyButton>
      </Group>
    </div>
  );
}

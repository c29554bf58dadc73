import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { scrollToPlace } from "../app/scroll";
import { marked } from "./marks";
import { Untrusted } from "./Untrusted";

interface PageProps {
  /** Often a name that somebody else gave. */
  title: string;
  /** What the tab of the browser says, where the title alone would not do. */
  tabTitle?: string;
  lead?: ReactNode;
  /** Stands above the title: the way back. */
  before?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

let hasShownOne = false;

/** A page: its heading, what can be done on it, its content. Focus follows the reader here. */
export function Page({ title, tabTitle, lead, before, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${marked(tabTitle ?? title)} · Arena`;
  }, [title, tabTitle]);
  useEffect(() => {
    // Not on the first page: there the reader begins at the top, as on any page.
    if (hasShownOne) heading.current?.focus({ preventScroll: true });
    hasShownOne = true;
    scrollToPlace();
  }, []);
  return (
    <Stack gap="lg">
      <div>
        {before}
        <Group justify="space-between" align="flex-end" gap="md">
          <div style={{ minWidth: 0, flex: "1 1 20rem" }}>
            <Title order={1} size="h2" ref={heading} tabIndex={-1} style={{ outline: "none" }}>
              <Untrusted text={title} />
            </Title>
            {lead && (
              <Text c="dimmed" mt={4} maw="60rem" component="div">
                {lead}
              </Text>
            )}
          </div>
          {actions && <Group gap="xs">{actions}</Group>}
        </Group>
      </div>
      {children}
    </Stack>
  );
}

import { Group, Stack, Text, Title } from "@mantine/core";
import { type ReactNode, useEffect, useRef } from "react";
import { scrollToPlace } from "../app/scroll";
import { marked } from "./marks";
import { Untrusted } from "./Untrusted";

interface PageProps {
  /** Often untrusted text: an agent's or a test's name. */
  title: string;
  /** The title of the browser tab, if not the page's title. */
  tabTitle?: string;
  lead?: ReactNode;
  /** Shown above the title: the link back. */
  before?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}

let hasShownOne = false;

/** A page: heading, actions, content. Navigating to it moves focus to the heading. */
export function Page({ title, tabTitle, lead, before, actions, children }: PageProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${marked(tabTitle ?? title)} · Arena`;
  }, [title, tabTitle]);
  useEffect(() => {
    // Not after a full load: there focus starts at the top, at the skip link.
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

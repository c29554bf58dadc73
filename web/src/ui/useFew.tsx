import { Button, Group, Text } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { count } from "./numbers";

/** The first rows of a long list, and a note that says so and can show all of them. */
export function useFew<T>(rows: T[], most: number): { shown: T[]; note: ReactNode } {
  const [isWhole, setWhole] = useState(false);
  if (rows.length <= most) return { shown: rows, note: null };
  const note = (
    <Group gap="sm" mt="sm">
      {!isWhole && (
        <Text size="sm" c="dimmed">
          The first {count(most)} of {count(rows.length)} are shown.
        </Text>
      )}
      <Button
        size="compact-sm"
        variant="default"
        aria-expanded={isWhole}
        onClick={() => setWhole(!isWhole)}
      >
        {isWhole ? `Show the first ${count(most)}` : `Show all ${count(rows.length)}`}
      </Button>
    </Group>
  );
  return { shown: isWhole ? rows : rows.slice(0, most), note };
}

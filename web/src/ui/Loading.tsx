import { Skeleton, Stack, VisuallyHidden } from "@mantine/core";

/** A placeholder while something loads. */
export function Loading({
  what,
  rows = 4,
  height = 56,
}: {
  what: string;
  rows?: number;
  height?: number;
}) {
  return (
    <Stack gap="sm" aria-busy="true">
      <VisuallyHidden role="status">Loading {what}</VisuallyHidden>
      {Array.from({ length: rows }, (_, row) => `row ${row}`).map((key) => (
        <Skeleton key={key} height={height} radius="md" />
      ))}
    </Stack>
  );
}

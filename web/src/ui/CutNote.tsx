import { Text } from "@mantine/core";
import { Label } from "./Label";

/** Says that an agent's answer is incomplete: a reader must not take its end for the agent's. */
export function CutNote() {
  return (
    <Text size="sm" mt="xs">
      <Label tone="warn">cut</Label> The answer was longer: it was cut by its model, or at 1 MiB.
      Only what is shown was judged.
    </Text>
  );
}

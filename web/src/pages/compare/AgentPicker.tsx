import { MultiSelect } from "@mantine/core";

/** As many as the server compares at once. */
const MOST = 20;

interface AgentPickerProps {
  known: string[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** Which versions are set side by side; the first is the one that others are measured against. */
export function AgentPicker({ known, chosen, onChange }: AgentPickerProps) {
  return (
    <MultiSelect
      label="Agents"
      description="Version by version, in the order of your choice."
      placeholder={chosen.length ? undefined : "Choose two or more"}
      data={[...new Set([...known, ...chosen])]}
      value={chosen}
      onChange={onChange}
      maxValues={MOST}
      searchable
      hidePickedOptions
      clearable
      clearButtonProps={{ "aria-label": "Choose none" }}
      nothingFoundMessage="No such agent has a score"
      maw={760}
    />
  );
}

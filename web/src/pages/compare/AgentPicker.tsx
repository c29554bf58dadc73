import { MultiSelect } from "@mantine/core";

/** The most that the server compares at once. */
const MOST = 20;

interface AgentPickerProps {
  known: string[];
  chosen: string[];
  onChange: (chosen: string[]) => void;
}

/** Chooses the versions to compare; the first one is the baseline. */
export function AgentPicker({ known, chosen, onChange }: AgentPickerProps) {
  return (
    <MultiSelect
      label="Agents"
      description="The first one is the baseline."
      placeholder={chosen.length ? undefined : "Choose two or more"}
      data={[...new Set([...known, ...chosen])]}
      value={chosen}
      onChange={onChange}
      maxValues={MOST}
      searchable
      hidePickedOptions
      clearable
      clearButtonProps={{ "aria-label": "Clear" }}
      nothingFoundMessage="No agent with a score matches"
      maw={760}
      style={{ flex: "1 1 20rem" }}
    />
  );
}

import { CloseButton, TextInput } from "@mantine/core";
import { useEffect, useState } from "react";

/** While a year is typed, it passes through the first centuries. */
const FIRST_YEAR = 2000;

interface MomentInputProps {
  /** As in the address: a moment with its time zone. */
  value?: string;
  onChange: (value: string | null) => void;
}

/** Chooses a past moment, in the reader's own time. */
export function MomentInput({ value, onChange }: MomentInputProps) {
  const [draft, setDraft] = useState(localOf(value));
  useEffect(() => setDraft(localOf(value)), [value]);
  const change = (typed: string) => {
    setDraft(typed);
    if (typed === "") return onChange(null);
    const moment = new Date(typed);
    if (moment.getFullYear() >= FIRST_YEAR) onChange(moment.toISOString());
  };
  return (
    <TextInput
      type="datetime-local"
      step={1}
      label="As of"
      value={draft}
      onChange={(event) => change(event.currentTarget.value)}
      rightSection={
        value && <CloseButton size="sm" aria-label="As of now" onClick={() => onChange(null)} />
      }
      w={value ? 275 : 225}
    />
  );
}

/** A moment as the field shows it: local, to the second. */
function localOf(value: string | undefined): string {
  if (!value) return "";
  const moment = new Date(value);
  if (Number.isNaN(moment.getTime())) return "";
  const local = new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19);
}

import { Button } from "@mantine/core";
import { useState } from "react";
import { type Confirmation, ConfirmDialog } from "./ConfirmDialog";

interface ConfirmButtonProps extends Confirmation {
  /** The text of the button. */
  label: string;
}

/** A button that asks before an irreversible action. */
export function ConfirmButton({ label, ...dialog }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog {...dialog} opened={isAsking} onClose={() => setAsking(false)} />
    </>
  );
}

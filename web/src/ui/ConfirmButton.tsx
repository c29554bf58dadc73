import { Button } from "@mantine/core";
import { useState } from "react";
import { type Confirmation, ConfirmDialog } from "./ConfirmDialog";

interface ConfirmButtonProps extends Confirmation {
  /** What the button says. */
  label: string;
}

/** Asks before it does what cannot be undone. */
export function ConfirmButton({ label, ...asked }: ConfirmButtonProps) {
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button variant="default" onClick={() => setAsking(true)}>
        {label}
      </Button>
      <ConfirmDialog {...asked} opened={isAsking} onClose={() => setAsking(false)} />
    </>
  );
}

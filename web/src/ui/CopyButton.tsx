import { Button, CopyButton as Copying } from "@mantine/core";

interface CopyButtonProps {
  /** What is copied. */
  what: string;
  text: string;
}

/** Copies a text. */
export function CopyButton({ what, text }: CopyButtonProps) {
  return (
    <Copying value={text}>
      {({ copied, copy }) => (
        <Button
          size="compact-sm"
          variant="default"
          onClick={copy}
          aria-label={`${copied ? "Copied" : "Copy"}: ${what}`}
        >
          {copied ? "Copied" : "Copy"}
        </Button>
      )}
    </Copying>
  );
}

import { Button, Group } from "@mantine/core";
import { useState } from "react";
import { bytes } from "./numbers";
import { Untrusted } from "./Untrusted";
import classes from "./Untrusted.module.css";

/** Characters shown at first: an answer can be a megabyte long. */
const FIRST_CHARACTERS = 4_000;

interface UntrustedBlockProps {
  text: string;
  /** The name of the block, for screen readers. */
  label: string;
}

/** Untrusted text of several lines: displayed, never interpreted. */
export function UntrustedBlock({ text, label }: UntrustedBlockProps) {
  const [isWhole, setWhole] = useState(false);
  const isLong = text.length > FIRST_CHARACTERS * 1.25;
  const shown = isLong && !isWhole ? cut(text, FIRST_CHARACTERS) : text;
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={classes.block} dir="auto" aria-label={label} tabIndex={0}>
        <Untrusted text={shown} />
        {isLong && !isWhole && <span aria-hidden>…</span>}
      </section>
      {isLong && (
        <Group mt="xs" gap="sm">
          <Button
            size="compact-sm"
            variant="default"
            aria-expanded={isWhole}
            onClick={() => setWhole(!isWhole)}
          >
            {isWhole ? "Show less" : `Show all (${bytes(text.length)})`}
          </Button>
        </Group>
      )}
    </div>
  );
}

/** The beginning of a text, without splitting a surrogate pair. */
function cut(text: string, length: number): string {
  const end = /[\ud800-\udbff]/.test(text[length - 1] ?? "") ? length - 1 : length;
  return text.slice(0, end);
}

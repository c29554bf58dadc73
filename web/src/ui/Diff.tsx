import { Button } from "@mantine/core";
import { useState } from "react";
import classes from "./Diff.module.css";
import { count } from "./numbers";
import { Untrusted } from "./Untrusted";

/** Lines shown at first. */
const FIRST_LINES = 200;

/** A unified diff; added and removed lines also differ by their first character. */
export function Diff({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const lines = text.replace(/\n$/, "").split("\n");
  const isLong = lines.length > FIRST_LINES * 1.25;
  const shown = isLong && !isWhole ? lines.slice(0, FIRST_LINES) : lines;
  return (
    <div>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
      <section className={classes.diff} aria-label={label} tabIndex={0}>
        {shown.map((line, index) => (
          <div key={index} className={classes.line} data-kind={kindOf(line)}>
            <Untrusted text={line || " "} />
          </div>
        ))}
      </section>
      {isLong && (
        <Button
          mt="xs"
          size="compact-sm"
          variant="default"
          aria-expanded={isWhole}
          onClick={() => setWhole(!isWhole)}
        >
          {isWhole ? "Show less" : `Show all ${count(lines.length)} lines`}
        </Button>
      )}
    </div>
  );
}

function kindOf(line: string): string {
  if (/^(diff |index |--- |\+\+\+ |new file|deleted file)/.test(line)) return "file";
  if (line.startsWith("@@")) return "place";
  if (line.startsWith("+")) return "added";
  if (line.startsWith("-")) return "removed";
  return "same";
}

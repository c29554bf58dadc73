import { useMemo } from "react";
import { pieces } from "./marks";
import classes from "./Untrusted.module.css";

/** Untrusted text within a line; its bidirectional controls cannot reorder the line. */
export function Untrusted({ text }: { text: string }) {
  const parts = useMemo(() => pieces(text), [text]);
  return (
    <bdi className={classes.inline}>
      {parts.map((piece) =>
        piece.mark ? (
          <span key={piece.at} className={classes.mark} title={piece.mark}>
            {piece.text}
          </span>
        ) : (
          piece.text
        ),
      )}
    </bdi>
  );
}

import { useElementSize } from "@mantine/hooks";
import type { ReactNode } from "react";
import classes from "./charts.module.css";

interface FrameProps {
  height: number;
  /** What the chart shows, in a sentence; the table has the numbers. */
  label: string;
  children: (width: number) => ReactNode;
}

/** A chart as wide as its container; busy until that width is known, some frames after it is shown. */
export function Frame({ height, label, children }: FrameProps) {
  const { ref, width } = useElementSize();
  return (
    <div
      ref={ref}
      className={classes.frame}
      style={{ minHeight: height }}
      aria-busy={width === 0 || undefined}
    >
      {width > 0 && (
        <svg width={width} height={height} role="img" aria-label={label}>
          {children(width)}
        </svg>
      )}
    </div>
  );
}

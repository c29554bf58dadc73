import { AxisBottom } from "@visx/axis";
import { scaleLinear } from "@visx/scale";
import { Circle, Line } from "@visx/shape";
import { marked } from "../ui/marks";
import { range, score } from "../ui/numbers";
import classes from "./charts.module.css";
import { Frame } from "./Frame";
import { Labels } from "./Labels";

export interface IntervalRow {
  key: string;
  name: string;
  value: number;
  interval: { low: number; high: number } | null;
  /** Stands before the value, and the row is grey: "not ranked". */
  remark?: string;
}

const ROW = 44;
const AXIS = 28;
const SIDE = 14;
/** Below this a name and an interval do not fit side by side; the table twin has it. */
const NARROW = 440;
const TICKS = [0, 25, 50, 75, 100];

/** Scores from 0 to 100, each as a dot on its confidence interval. */
export function IntervalChart({ rows, label }: { rows: IntervalRow[]; label: string }) {
  const height = rows.length * ROW + AXIS;
  return (
    <Frame height={height} label={label}>
      {(width) => {
        const x = scaleLinear({ domain: [0, 100], range: [SIDE, width - SIDE] });
        return (
          <>
            {TICKS.map((tick) => (
              <Line
                key={tick}
                from={{ x: x(tick), y: 0 }}
                to={{ x: x(tick), y: height - AXIS }}
                className={classes.grid}
              />
            ))}
            {rows.map((row, index) => (
              <g key={row.key} transform={`translate(0 ${index * ROW})`}>
                <Labels
                  name={marked(row.name)}
                  value={labelOf(row, width > NARROW)}
                  width={width}
                  side={SIDE}
                />
                {row.interval && (
                  <Line
                    from={{ x: x(row.interval.low), y: 28 }}
                    to={{ x: x(row.interval.high), y: 28 }}
                    className={row.remark ? classes.faintInterval : classes.interval}
                  />
                )}
                <Circle
                  cx={x(row.value)}
                  cy={28}
                  r={6}
                  className={row.remark ? classes.faint : classes.dot}
                />
              </g>
            ))}
            <AxisBottom
              top={height - AXIS}
              scale={x}
              tickValues={TICKS}
              hideAxisLine
              hideTicks
              tickClassName={classes.tick}
              tickLabelProps={{ className: classes.tick, textAnchor: "middle", dy: 4 }}
            />
          </>
        );
      }}
    </Frame>
  );
}

function labelOf({ value, interval, remark }: IntervalRow, isWide: boolean): string {
  const numbers = isWide && interval ? `${score(value)} (${range(interval)})` : score(value);
  return remark ? `${remark} · ${numbers}` : numbers;
}

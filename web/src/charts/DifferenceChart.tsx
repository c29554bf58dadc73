import { AxisBottom } from "@visx/axis";
import { scaleLinear } from "@visx/scale";
import { Circle, Line } from "@visx/shape";
import { marked } from "../ui/marks";
import { signed } from "../ui/numbers";
import classes from "./charts.module.css";
import { Frame } from "./Frame";
import { Labels } from "./Labels";

export interface DifferenceRow {
  key: string;
  name: string;
  /** In percentage points; above 0 the first of the two is ahead. */
  value: number;
  interval: { low: number; high: number } | null;
}

const ROW = 48;
const AXIS = 28;
const SIDE = 18;
const STEPS = [10, 25, 50, 100];

/** Differences with their intervals around a line at 0; a bar that crosses it is not significant. */
export function DifferenceChart({ rows, label }: { rows: DifferenceRow[]; label: string }) {
  const height = rows.length * ROW + AXIS;
  const farthest = Math.max(
    ...rows.flatMap(({ value, interval }) =>
      [value, interval?.low ?? 0, interval?.high ?? 0].map(Math.abs),
    ),
  );
  const end = STEPS.find((step) => step >= farthest) ?? 100;
  const ticks = [-end, -end / 2, 0, end / 2, end];
  return (
    <Frame height={height} label={label}>
      {(width) => {
        const x = scaleLinear({ domain: [-end, end], range: [SIDE, width - SIDE] });
        return (
          <>
            {ticks.map((tick) => (
              <Line
                key={tick}
                from={{ x: x(tick), y: 0 }}
                to={{ x: x(tick), y: height - AXIS }}
                className={tick === 0 ? classes.zero : classes.grid}
              />
            ))}
            {rows.map((row, index) => (
              <g key={row.key} transform={`translate(0 ${index * ROW})`}>
                <Labels
                  name={marked(row.name)}
                  value={signed(row.value)}
                  width={width}
                  side={SIDE}
                />
                {row.interval && (
                  <Line
                    from={{ x: x(row.interval.low), y: 30 }}
                    to={{ x: x(row.interval.high), y: 30 }}
                    className={classes.interval}
                  />
                )}
                <Circle cx={x(row.value)} cy={30} r={6} className={classes.dot} />
              </g>
            ))}
            <AxisBottom
              top={height - AXIS}
              scale={x}
              tickValues={ticks}
              tickFormat={(tick) => signed(Number(tick))}
              hideAxisLine
              hideTicks
              tickLabelProps={{ className: classes.tick, textAnchor: "middle", dy: 4 }}
            />
          </>
        );
      }}
    </Frame>
  );
}

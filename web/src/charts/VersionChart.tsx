import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleLinear, scalePoint } from "@visx/scale";
import { Circle, Line, LinePath } from "@visx/shape";
import classes from "./charts.module.css";
import { Frame } from "./Frame";

export interface VersionPoint {
  version: string;
  value: number;
  interval: { low: number; high: number } | null;
}

const HEIGHT = 260;
const LEFT = 44;
const RIGHT = 24;
const TOP = 16;
const BOTTOM = 34;
const TICKS = [0, 25, 50, 75, 100];

/** An agent's score by version, with its confidence interval. */
export function VersionChart({ points, label }: { points: VersionPoint[]; label: string }) {
  return (
    <Frame height={HEIGHT} label={label}>
      {(width) => {
        const x = scalePoint({
          domain: points.map((point) => point.version),
          range: [LEFT, width - RIGHT],
          padding: 0.5,
        });
        const y = scaleLinear({ domain: [0, 100], range: [HEIGHT - BOTTOM, TOP] });
        const left = (point: VersionPoint) => x(point.version) ?? 0;
        return (
          <>
            {TICKS.map((tick) => (
              <Line
                key={tick}
                from={{ x: LEFT, y: y(tick) }}
                to={{ x: width - RIGHT, y: y(tick) }}
                className={classes.grid}
              />
            ))}
            {points.map(
              (point) =>
                point.interval && (
                  <Line
                    key={point.version}
                    from={{ x: left(point), y: y(point.interval.low) }}
                    to={{ x: left(point), y: y(point.interval.high) }}
                    className={classes.interval}
                  />
                ),
            )}
            <LinePath
              data={points}
              x={left}
              y={(point) => y(point.value)}
              className={classes.line}
            />
            {points.map((point) => (
              <Circle
                key={point.version}
                cx={left(point)}
                cy={y(point.value)}
                r={6}
                className={classes.dot}
              />
            ))}
            <AxisLeft
              left={LEFT}
              scale={y}
              tickValues={TICKS}
              hideAxisLine
              hideTicks
              tickLabelProps={{ className: classes.tick, textAnchor: "end", dx: -6, dy: 4 }}
            />
            <AxisBottom
              top={HEIGHT - BOTTOM}
              scale={x}
              hideAxisLine
              hideTicks
              tickLabelProps={{ className: classes.tick, textAnchor: "middle", dy: 6 }}
            />
          </>
        );
      }}
    </Frame>
  );
}

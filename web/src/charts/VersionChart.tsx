import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleLinear, scalePoint } from "@visx/scale";
import { Circle, Line, LinePath } from "@visx/shape";
import classes from "./charts.module.css";
import { Frame } from "./Frame";
import { fitted, VALUE, widthOf } from "./fitted";

export interface VersionPoint {
  version: string;
  value: number;
  interval: { low: number; high: number } | null;
  /** Drawn in grey. */
  isFaint?: boolean;
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
        const named = names(points.map(left), points, width);
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
                    className={point.isFaint ? classes.faintInterval : classes.interval}
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
                className={point.isFaint ? classes.faint : classes.dot}
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
              tickValues={[...named.keys()]}
              tickFormat={(version) => named.get(version) ?? ""}
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

const GAP = 10;
/** A longer name of a version is shortened. */
const LONGEST = 110;

/** The versions that are named below the axis, as many as fit; the newest is always among them. */
function names(places: number[], points: VersionPoint[], width: number): Map<string, string> {
  const longest = Math.max(...points.map(({ version }) => widthOf(version, VALUE)));
  const label = Math.min(longest, LONGEST, width / 2);
  const apart = points.length > 1 ? (places[1] ?? 0) - (places[0] ?? 0) : width;
  const every = Math.max(1, Math.ceil((label + GAP) / apart));
  const named = new Map<string, string>();
  points.forEach(({ version }, index) => {
    if ((points.length - 1 - index) % every !== 0) return;
    // A name is centred below its point and must not leave the chart.
    const place = places[index] ?? 0;
    const room = Math.min(label, 2 * place, 2 * (width - place));
    named.set(version, fitted(version, room, VALUE));
  });
  return named;
}

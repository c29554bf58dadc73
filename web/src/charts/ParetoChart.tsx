import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleLinear } from "@visx/scale";
import { Circle, Line, LinePath } from "@visx/shape";
import { dollars } from "../ui/numbers";
import classes from "./charts.module.css";
import { Frame } from "./Frame";
import { VALUE, widthOf } from "./fitted";

export interface CostPoint {
  key: string;
  name: string;
  cost: number;
  accuracy: number;
  isFront: boolean;
}

const HEIGHT = 320;
const LEFT = 44;
const RIGHT = 24;
const TOP = 20;
const BOTTOM = 46;
const TICKS = [0, 25, 50, 75, 100];

/** Accuracy against cost; the line is the Pareto front. */
export function ParetoChart({ points, label }: { points: CostPoint[]; label: string }) {
  // At least a cent, because an axis needs a length.
  const dearest = Math.max(...points.map((point) => point.cost)) || 0.01;
  return (
    <Frame height={HEIGHT} label={label}>
      {(width) => {
        const x = scaleLinear({ domain: [0, dearest * 1.08], range: [LEFT, width - RIGHT] });
        const y = scaleLinear({ domain: [0, 100], range: [HEIGHT - BOTTOM, TOP] });
        const places = named(points, width, (point) => [x(point.cost), y(point.accuracy)]);
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
            <LinePath
              data={steps(points)}
              x={([cost]) => x(cost)}
              y={([, accuracy]) => y(accuracy)}
              className={classes.front}
            />
            {points.map((point) => (
              <Circle
                key={point.key}
                cx={x(point.cost)}
                cy={y(point.accuracy)}
                r={point.isFront ? 7 : 5.5}
                className={point.isFront ? classes.best : classes.faint}
              >
                <title>{point.name}</title>
              </Circle>
            ))}
            {places.map(({ key, name, left, top, anchor }) => (
              <text key={key} x={left} y={top} textAnchor={anchor} className={classes.value}>
                {name}
              </text>
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
              numTicks={width < 500 ? 3 : 6}
              tickFormat={(cost) => dollars(Number(cost))}
              label="dollars per test"
              labelOffset={12}
              labelProps={{ className: classes.tick, textAnchor: "middle" }}
              axisLineClassName={classes.axis}
              hideTicks
              tickLabelProps={{ className: classes.tick, textAnchor: "middle", dy: 2 }}
            />
          </>
        );
      }}
    </Frame>
  );
}

/** The front as steps: up at each point's cost, level until the next. */
function steps(points: CostPoint[]): [number, number][] {
  const front = points.filter((point) => point.isFront).sort((a, b) => a.cost - b.cost);
  return front.flatMap((point, index) => {
    const before = front[index - 1];
    const here: [number, number] = [point.cost, point.accuracy];
    return before ? [[point.cost, before.accuracy] as [number, number], here] : [here];
  });
}

interface Place {
  key: string;
  name: string;
  left: number;
  top: number;
  anchor: "start" | "end";
}

/** Positions of the names; one that would overlap another is left out (the table has them all). */
function named(
  points: CostPoint[],
  width: number,
  at: (point: CostPoint) => [number, number],
): Place[] {
  const placed: (Place & { from: number; to: number })[] = [];
  for (const point of [...points].sort((a, b) => Number(b.isFront) - Number(a.isFront))) {
    const [left, top] = at(point);
    const long = widthOf(point.name, VALUE);
    const isRight = left + 12 + long < width;
    const from = isRight ? left + 12 : left - 12 - long;
    const here = { from, to: from + long, top: top - 8 };
    const isFree =
      placed.every(
        (other) =>
          other.to < here.from || other.from > here.to || Math.abs(other.top - here.top) > 14,
      ) &&
      points.every((other) => {
        const [x, y] = at(other);
        return (
          other === point || x < from - 6 || x > here.to + 6 || Math.abs(y - here.top + 4) > 12
        );
      });
    if (isFree && from >= 0)
      placed.push({
        ...here,
        key: point.key,
        name: point.name,
        left: isRight ? left + 12 : left - 12,
        anchor: isRight ? "start" : "end",
      });
  }
  return placed;
}

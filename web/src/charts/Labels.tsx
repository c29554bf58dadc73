import classes from "./charts.module.css";
import { fitted, NAME, VALUE, widthOf } from "./fitted";

interface LabelsProps {
  name: string;
  value: string;
  width: number;
  /** The margin on either side. */
  side: number;
}

const GAP = 12;

/** The name and the value above a row of a chart; a long name is shortened. */
export function Labels({ name, value, width, side }: LabelsProps) {
  const room = width - 2 * side - widthOf(value, VALUE) - GAP;
  return (
    <>
      <title>{name}</title>
      <text x={side} y={14} className={classes.name}>
        {fitted(name, room, NAME)}
      </text>
      <text x={width - side} y={14} textAnchor="end" className={classes.value}>
        {value}
      </text>
    </>
  );
}

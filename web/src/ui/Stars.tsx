import { Rating } from "@mantine/core";
import { amount, score } from "./numbers";
import classes from "./Stars.module.css";

/** An average rating, as stars and as a number. */
export function Stars({ value, votes }: { value: number | null; votes?: number }) {
  if (value === null) return <span className={classes.none}>not rated</span>;
  const text = `${score(value)} of 5 stars${votes === undefined ? "" : `, ${amount(votes, "rating")}`}`;
  return (
    <span className={classes.stars} role="img" aria-label={text} title={text}>
      <Rating value={value} fractions={4} readOnly size="xs" aria-hidden inert />
      <span aria-hidden>{score(value)}</span>
    </span>
  );
}

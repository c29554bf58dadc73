import { Text } from "@mantine/core";
import classes from "./Rank.module.css";

const MEDALS = ["", "gold", "silver", "bronze"];

interface RankProps {
  rank: number | null;
  low: number | null;
  high: number | null;
  isShared: boolean;
}

/** A rank, the range of ranks that the data allows, and whether others share it. */
export function Rank({ rank, low, high, isShared }: RankProps) {
  if (rank === null) return <>–</>;
  const medal = MEDALS[rank];
  return (
    <span className={classes.rank}>
      <span className={classes.place} data-medal={medal}>
        {isShared && "="}
        {rank}
        {medal && <span className={classes.unseen}> ({medal})</span>}
      </span>
      {low !== null && high !== null && low !== high && (
        <Text span size="xs" c="dimmed" className={classes.range}>
          {low}–{high}
        </Text>
      )}
    </span>
  );
}

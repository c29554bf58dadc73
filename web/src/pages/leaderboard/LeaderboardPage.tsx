import { Button, Group, Select } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { useCategories, useLeaderboard, usePareto } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { percent } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { BoardTable } from "./BoardTable";
import { CostCard } from "./CostCard";
import { ScoreCard } from "./ScoreCard";

/** Who is ahead, how sure that is, and what it costs. */
export default function LeaderboardPage() {
  const [search, setSearch] = useSearchParams();
  const category = search.get("category") ?? undefined;
  const categories = useCategories();
  const board = useLeaderboard({ category });
  const pareto = usePareto();
  const weights = board.data?.weights;

  return (
    <Page
      title="Leaderboard"
      lead={
        weights
          ? `Overall: benchmark ${share(weights.benchmark)}, user rating ${share(weights.user_rating)}, ` +
            `success rate ${share(weights.success_rate)}, cost efficiency ${share(weights.cost_efficiency)}. ` +
            "A range such as 1–3 says which places the data allow."
          : "Who is ahead, how sure that is, and what it costs."
      }
    >
      <Group>
        <Select
          label="Tests that count"
          placeholder="All categories"
          clearable
          clearButtonProps={{ "aria-label": "All categories" }}
          data={[...new Set([...(categories.data ?? []), ...(category ? [category] : [])])]}
          value={category ?? null}
          onChange={(value) => setSearch(value ? { category: value } : {})}
        />
      </Group>
      {board.isPending && <Loading what="the leaderboard" />}
      {board.error && <ProblemNote error={board.error} onRetry={() => board.refetch()} />}
      {board.data?.leaderboard.length === 0 && (
        <EmptyNote
          title={category ? "No agent has a score here" : "Nobody is on the board yet"}
          action={
            <Button component={Link} href={category ? "/leaderboard" : "/"}>
              {category ? "All categories" : "To the agents"}
            </Button>
          }
        >
          {category
            ? `No full run of your team has tests of the category ${category}.`
            : "Run benchmarks and rate agents: each gets its place as soon as something is known of it."}
        </EmptyNote>
      )}
      {board.data && board.data.leaderboard.length > 0 && (
        <>
          <BoardTable entries={board.data.leaderboard} />
          <ScoreCard entries={board.data.leaderboard} />
        </>
      )}
      {!category && pareto.data && <CostCard pareto={pareto.data} />}
    </Page>
  );
}

function share(weight: number): string {
  return percent(weight * 100).replace(".0", "");
}

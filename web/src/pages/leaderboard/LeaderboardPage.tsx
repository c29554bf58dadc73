import { Button, Group, Select, Text } from "@mantine/core";
import { Link, useSearchParams } from "wouter";
import { useCategories, useLeaderboard, usePareto } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { count, percent } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { BoardTable } from "./BoardTable";
import { CostCard } from "./CostCard";
import { ScoreCard } from "./ScoreCard";

/** The leaderboard: ranks, intervals and costs. */
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
            "A range such as 1–3 shows which ranks the data allows."
          : "Who is ahead, how certain that is, and what it costs."
      }
    >
      <Group>
        <Select
          label="Category"
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
          title={category ? "No scores in this category" : "The leaderboard is empty"}
          action={
            <Button component={Link} href={category ? "/leaderboard" : "/"}>
              {category ? "All categories" : "View agents"}
            </Button>
          }
        >
          {category
            ? `No full run of your team includes tests of the category ${category}.`
            : "Run benchmarks and rate agents: each agent appears once there is data for it."}
        </EmptyNote>
      )}
      {board.data && board.data.leaderboard.length > 0 && (
        <>
          <BoardTable entries={board.data.leaderboard} />
          {board.data.total > board.data.leaderboard.length && (
            <Text size="sm" c="dimmed">
              The first {count(board.data.leaderboard.length)} of {count(board.data.total)} are
              shown; <code>arena leaderboard --limit 1000</code> lists more.
            </Text>
          )}
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

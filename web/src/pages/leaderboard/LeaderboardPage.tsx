import { Alert, Button, Group, Select, Text } from "@mantine/core";
import { Link } from "wouter";
import { useSuite } from "../../api/boards";
import { asProblem } from "../../api/problem";
import { type Schemas, useCategories, useLeaderboard, usePareto } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Warning } from "../../ui/icons";
import { Loading } from "../../ui/Loading";
import { amount, count, percent } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { boardHref, suiteHref, versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { useFilters } from "../../ui/useFilters";
import { ArchiveNote } from "./ArchiveNote";
import { BoardNotes } from "./BoardNotes";
import { BoardTable } from "./BoardTable";
import { CostCard } from "./CostCard";
import { MomentInput } from "./MomentInput";
import { ScoreCard } from "./ScoreCard";

/** The board of a suite: ranks, intervals and costs. */
export default function LeaderboardPage() {
  const [search, choose] = useFilters();
  const filter = {
    suite: search.get("suite") ?? undefined,
    version: search.get("version") ?? undefined,
    at: search.get("at") ?? undefined,
    category: search.get("category") ?? undefined,
    archived: search.get("archived") === "true" || undefined,
  };
  const board = useLeaderboard(filter);
  // Costs and categories are known only of the board that is shown now.
  const isNow = !filter.at && !filter.version;
  const pareto = usePareto(filter.suite);
  const data = board.error ? undefined : board.data;

  return (
    <Page
      title="Leaderboard"
      lead={data ? <BoardLead board={data} /> : "Who is ahead, and how certain that is."}
      actions={
        <Button
          component={Link}
          href={`/leaderboard/history${filter.suite ? `?suite=${encodeURIComponent(filter.suite)}` : ""}`}
          variant="default"
        >
          History
        </Button>
      }
    >
      <Filters filter={filter} board={board.data} choose={choose} />
      {board.isPending && <Loading what="the leaderboard" />}
      {board.error && filter.at && isAbout(board.error, "query.at") && (
        <NoDate text={filter.at} suite={filter.suite} />
      )}
      {board.error && !isAbout(board.error, "query.at") && (
        <ProblemNote error={board.error} onRetry={() => board.refetch()} />
      )}
      {data && <BoardNotes board={data} version={filter.version} />}
      {data?.leaderboard.length === 0 && (
        <NoEntries filter={filter} isAllArchived={data.total > 0 || data.archived > 0} />
      )}
      {data && data.leaderboard.length > 0 && (
        <>
          <BoardTable entries={data.leaderboard} suite={filter.suite} />
          {data.total > data.leaderboard.length && (
            <Text size="sm" c="dimmed">
              The first {count(data.leaderboard.length)} of {count(data.total)} are shown;{" "}
              <code>arena leaderboard --limit 1000</code> lists more.
            </Text>
          )}
        </>
      )}
      {data && (
        <ArchiveNote
          hidden={data.archived}
          isShown={filter.archived ?? false}
          onShow={(isShown) => choose({ archived: isShown ? "true" : null })}
        />
      )}
      {data && data.leaderboard.length > 0 && <ScoreCard entries={data.leaderboard} />}
      {isNow && !filter.category && !board.error && pareto.data && (
        <CostCard pareto={pareto.data} />
      )}
    </Page>
  );
}

interface Filter {
  suite?: string;
  version?: string;
  at?: string;
  category?: string;
}

/** Which board it is, and what its ranks are made from. */
function BoardLead({ board }: { board: Schemas["Leaderboard"] }) {
  const { weights, suite, suite_version, suite_label, suite_tests } = board;
  return (
    <>
      {suite && suite_version && (
        <div>
          Suite{" "}
          <Link href={suiteHref(suite)}>
            <Untrusted text={suite} />
          </Link>
          {board.is_default_suite && " (default)"}, version{" "}
          <span title={suite_version}>
            <Untrusted text={versionName(suite_version, suite_label)} />
          </span>
          {suite_tests !== null && `, ${amount(suite_tests, "test")}`}
        </div>
      )}
      Ranked by the overall score: benchmark {share(weights.benchmark)}, user rating{" "}
      {share(weights.user_rating)}, success rate {share(weights.success_rate)}, cost efficiency{" "}
      {share(weights.cost_efficiency)}. A range such as 1–3 shows which ranks the data allows.
    </>
  );
}

interface FiltersProps {
  filter: Filter;
  board?: Schemas["Leaderboard"];
  choose: ReturnType<typeof useFilters>[1];
}

function Filters({ filter, board, choose }: FiltersProps) {
  const categories = useCategories();
  const suite = useSuite(filter.suite ?? board?.suite);
  const versions = suite.data?.versions ?? [];
  const isNow = !filter.at && !filter.version;
  return (
    <Group gap="sm" align="flex-end">
      <Select
        label="Suite"
        placeholder={board?.suite ?? "Default suite"}
        clearable
        clearButtonProps={{ "aria-label": "Default suite" }}
        data={known(board?.suites, filter.suite)}
        value={filter.suite ?? null}
        // A version belongs to one suite.
        onChange={(value) => choose({ suite: value, version: null })}
        title={filter.suite ?? board?.suite ?? undefined}
        w={{ base: "100%", xs: 260 }}
      />
      <Select
        label="Version"
        placeholder="Newest run"
        clearable
        clearButtonProps={{ "aria-label": "Newest version with a run" }}
        data={[
          ...versions.map(({ version, label }) => ({
            value: version,
            label: versionName(version, label),
          })),
          ...(filter.version && !versions.some((one) => one.version === filter.version)
            ? [filter.version]
            : []),
        ]}
        value={filter.version ?? null}
        onChange={(value) => choose({ version: value, category: null })}
        w={170}
      />
      <MomentInput value={filter.at} onChange={(at) => choose({ at, category: null })} />
      {isNow && (
        <Select
          label="Category"
          placeholder="All categories"
          clearable
          clearButtonProps={{ "aria-label": "All categories" }}
          data={known(categories.data, filter.category)}
          value={filter.category ?? null}
          onChange={(value) => choose({ category: value })}
          w={170}
        />
      )}
    </Group>
  );
}

/** The moment in the address is no date. */
function NoDate({ text, suite }: { text: string; suite?: string }) {
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<Warning />}
      title={<Untrusted text={`'${text}' is not a date`} />}
    >
      <Button component={Link} href={boardHref({ suite })} size="compact-sm" variant="default">
        Show the current board
      </Button>
    </Alert>
  );
}

/** Whether the server refused one part of the request, such as `query.at`. */
function isAbout(error: unknown, part: string): boolean {
  return asProblem(error).errors?.some(({ at }) => at === part) ?? false;
}

function NoEntries({ filter, isAllArchived }: { filter: Filter; isAllArchived: boolean }) {
  if (isAllArchived)
    return <EmptyNote title="Every agent on this board is archived">Show them below.</EmptyNote>;
  if (filter.at)
    return (
      <EmptyNote
        title="Nothing was on the board then"
        action={
          <Button component={Link} href={boardHref({ suite: filter.suite })}>
            Show the current board
          </Button>
        }
      >
        At that moment no agent had any data.
      </EmptyNote>
    );
  const { category } = filter;
  return (
    <EmptyNote
      title={category ? "No scores in this category" : "The leaderboard is empty"}
      action={
        <Button component={Link} href={category ? boardHref({ suite: filter.suite }) : "/"}>
          {category ? "All categories" : "View agents"}
        </Button>
      }
    >
      {category
        ? `No full run of this suite includes tests of the category ${category}.`
        : "Run benchmarks and rate agents: each agent appears once there is data for it."}
    </EmptyNote>
  );
}

/** The options: all known values, and the one in the address. */
function known(values: string[] = [], chosen = ""): string[] {
  return [...new Set([...values, chosen])].filter(Boolean);
}

function share(weight: number): string {
  return percent(weight * 100).replace(".0", "");
}

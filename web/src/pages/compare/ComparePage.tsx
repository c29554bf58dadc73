import { Group, Select } from "@mantine/core";
import { useComparison } from "../../api/compare";
import { useLeaderboard } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { useFilters } from "../../ui/useFilters";
import { AgentPicker } from "./AgentPicker";
import { DifferenceCard } from "./DifferenceCard";
import { Matrix } from "./Matrix";
import { ScoreTable } from "./ScoreTable";
import { Verdict } from "./Verdict";

/** Agents side by side: who is ahead, on which tests they differ, and whether it is significant. */
export default function ComparePage() {
  const [search, choose] = useFilters();
  const agents = agentsIn(search);
  const suite = search.get("suite") ?? undefined;
  const board = useLeaderboard({ suite });
  const comparison = useComparison(agents, suite);
  const known = board.data?.leaderboard.map((one) => `${one.agent_id}:${one.agent_version}`) ?? [];
  const suites = [...new Set([...(board.data?.suites ?? []), suite ?? ""])].filter(Boolean);

  return (
    <Page
      title="Compare"
      lead="Agents side by side on the tests of their latest full runs of a suite: where they differ, and whether it is significant."
    >
      <Group gap="sm" align="flex-end">
        {suites.length > 1 && (
          <Select
            label="Suite"
            description="Whose tests are compared."
            placeholder={comparison.data?.suite ?? "One in common"}
            clearable
            clearButtonProps={{ "aria-label": "One in common" }}
            data={suites}
            value={suite ?? null}
            onChange={(value) => choose({ suite: value })}
          />
        )}
        <AgentPicker
          known={known}
          chosen={agents}
          onChange={(chosen) => choose({ agents: chosen.join(",") })}
        />
      </Group>
      {agents.length < 2 && (
        <EmptyNote title="Choose two or more agents">
          {known.length < 2 && board.data
            ? "Agents can be compared once two of them, or two versions of one, have run a benchmark."
            : "Each test gets a row, and each agent a column."}
        </EmptyNote>
      )}
      {agents.length >= 2 && comparison.isPending && <Loading what="the comparison" />}
      {comparison.error && (
        <ProblemNote error={comparison.error} onRetry={() => comparison.refetch()} />
      )}
      {agents.length >= 2 && comparison.data && !comparison.error && (
        <>
          <Verdict comparison={comparison.data} />
          <ScoreTable comparison={comparison.data} />
          {comparison.data.pairs.length > 0 && <DifferenceCard pairs={comparison.data.pairs} />}
          <Matrix agents={agents} suite={suite} />
        </>
      )}
    </Page>
  );
}

/** The agents that the address names, each once. */
function agentsIn(search: URLSearchParams): string[] {
  const named = (search.get("agents") ?? "").split(",").map((one) => one.trim());
  return [...new Set(named.filter(Boolean))];
}

import { useSearchParams } from "wouter";
import { useComparison } from "../../api/compare";
import { useLeaderboard } from "../../api/queries";
import { EmptyNote } from "../../ui/EmptyNote";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { AgentPicker } from "./AgentPicker";
import { DifferenceCard } from "./DifferenceCard";
import { Matrix } from "./Matrix";
import { ScoreTable } from "./ScoreTable";
import { Verdict } from "./Verdict";

/** Agents side by side: who is ahead, on which tests they differ, and whether it is significant. */
export default function ComparePage() {
  const [search, setSearch] = useSearchParams();
  const agents = agentsIn(search);
  const board = useLeaderboard();
  const comparison = useComparison(agents);
  const known = board.data?.leaderboard.map((one) => `${one.agent_id}:${one.agent_version}`) ?? [];
  const choose = (chosen: string[]) =>
    setSearch((before) => {
      const after = new URLSearchParams(before);
      if (chosen.length) after.set("agents", chosen.join(","));
      else after.delete("agents");
      return after;
    });

  return (
    <Page
      title="Compare"
      lead="Agents side by side on the tests of their latest full runs: where they differ, and whether it is significant."
    >
      <AgentPicker known={known} chosen={agents} onChange={choose} />
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
          <Matrix agents={agents} />
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

import { Alert, Group, Progress, Text } from "@mantine/core";
import { Link, useParams } from "wouter";
import { type Schemas, useRun } from "../../api/queries";
import { useProgress } from "../../app/live";
import { BackLink } from "../../ui/BackLink";
import { Warning } from "../../ui/icons";
import { Label } from "../../ui/Label";
import { Loading } from "../../ui/Loading";
import { count } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { stateOf } from "../../ui/runState";
import { StatusBadge } from "../../ui/StatusBadge";
import { boardHref, suiteHref, versionName } from "../../ui/suiteWords";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { BudgetNote } from "./BudgetNote";
import { CategoryCard } from "./CategoryCard";
import { ErrorList } from "./ErrorList";
import { InterruptedNote } from "./InterruptedNote";
import { Results } from "./Results";
import { RunActions } from "./RunActions";
import { RunFacts } from "./RunFacts";
import { RunOrigin } from "./RunOrigin";
import { RunScore } from "./RunScore";

/** A run with its results. */
export default function RunPage() {
  const { runId = "" } = useParams<{ runId: string }>();
  const { data, error, isPending, refetch } = useRun(runId);
  const live = useProgress(runId);
  const back = <BackLink href="/benchmarks">All runs</BackLink>;
  if (isPending || !data)
    return (
      <Page title="Run" before={back}>
        {error ? <ProblemNote error={error} onRetry={refetch} /> : <Loading what="the run" />}
      </Page>
    );
  const run = updated(data.run, live);
  const state = stateOf(run);
  return (
    <Page
      title={`${run.agent_id} ${run.agent_version}`}
      tabTitle={`Run of ${run.agent_id}`}
      before={back}
      lead={
        <Group gap="xs" role="status">
          <StatusBadge state={state} />
          <Text span size="sm">
            Started <When at={run.started_at ?? run.created_at} />
          </Text>
          <Text span size="sm">
            <Link href={`/agents/${encodeURIComponent(run.agent_id)}`}>View agent</Link>
          </Text>
          <SuiteOf run={run} />
        </Group>
      }
      actions={<RunActions run={run} />}
    >
      {state === "interrupted" && <InterruptedNote run={run} />}
      {state === "running" && (
        <div>
          <Text size="sm" mb={4}>
            {count(run.completed_tests)} of {count(run.total_tests)} done, {count(run.passed_tests)}{" "}
            passed
          </Text>
          <Progress
            value={(run.completed_tests / run.total_tests) * 100}
            aria-label={`Progress: ${run.completed_tests} of ${run.total_tests}`}
          />
        </div>
      )}
      {state === "budget_exceeded" && <BudgetNote run={run} />}
      {run.error_message && data.errors.length === 0 && state !== "budget_exceeded" && (
        <Alert color="orange" icon={<Warning />} title="The run could not be completed">
          <Untrusted text={run.error_message} />
        </Alert>
      )}
      <RunScore run={run} details={data} />
      <RunFacts run={run} details={data} />
      <RunOrigin run={run} />
      <ErrorList errors={data.errors} total={run.errored_tests} hasTrials={data.trials !== null} />
      {data.categories.length > 1 && <CategoryCard categories={data.categories} />}
      <Results run={run} details={data} />
    </Page>
  );
}

/** The suite version that the run is of, and whether it counts for its board. */
function SuiteOf({ run }: { run: Schemas["Run"] }) {
  if (!run.suite) return null;
  return (
    <>
      <Text span size="sm">
        Suite{" "}
        <Link href={suiteHref(run.suite)}>
          <Untrusted text={run.suite} />
        </Link>
        {run.suite_version && (
          <>
            , version{" "}
            <Link href={boardHref({ suite: run.suite, version: run.suite_version })}>
              {versionName(run.suite_version)}
            </Link>
          </>
        )}
        {run.suite_tests > 0 && `, ${count(run.test_count)} of its ${count(run.suite_tests)} tests`}
      </Text>
      {run.provenance === "reported" && <Label tone="warn">reported</Label>}
      {run.provenance === "re_executed" && <Label tone="quiet">re-executed here</Label>}
      {!run.is_full && <Label tone="warn">partial: does not count for the board</Label>}
      {run.is_archived && <Label tone="quiet">archived</Label>}
    </>
  );
}

/** The fetched run, updated with later events of the stream. */
function updated(run: Schemas["Run"], live: Schemas["Progress"] | undefined): Schemas["Run"] {
  if (!live || live.completed <= run.completed_tests) return run;
  return {
    ...run,
    completed_tests: live.completed,
    passed_tests: live.passed,
    failed_tests: live.failed,
  };
}

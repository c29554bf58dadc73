import { Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { useWorkers } from "../../api/workers";
import { Command } from "../../ui/Command";
import { EmptyNote } from "../../ui/EmptyNote";
import { Facts } from "../../ui/Facts";
import { Loading } from "../../ui/Loading";
import { count, score, seconds } from "../../ui/numbers";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { ChoreTable } from "./ChoreTable";
import { QueueTable } from "./QueueTable";
import { RunTable } from "./RunTable";
import { StuckTable } from "./StuckTable";
import { WorkerTable } from "./WorkerTable";

/** The workers, the queue, the runs in it, and what is stuck and why. */
export default function WorkersPage() {
  const { data, error, isPending, refetch } = useWorkers();
  return (
    <Page
      title="Workers"
      lead="Processes on any number of machines that execute runs. Each takes shards, the parts of a run, from the queue."
    >
      {isPending && <Loading what="the workers" />}
      {error && <ProblemNote error={error} onRetry={() => refetch()} />}
      {data?.dispatch === "embedded" && <Embedded />}
      {data?.dispatch === "queued" && <Overview found={data} />}
    </Page>
  );
}

function Embedded() {
  return (
    <EmptyNote title="This server needs no workers">
      <Text>
        Runs are executed by the process that starts them. To share them among several machines, use
        a PostgreSQL database, set <code>ARENA_DISPATCH=queued</code> and start{" "}
        <code>arena worker</code> on each machine; see <code>docs/operations/scale-out.md</code>.
      </Text>
    </EmptyNote>
  );
}

function Overview({ found }: { found: Schemas["QueueOverview"] }) {
  const { workers, queues, runs, stuck, chores, totals } = found;
  const live = workers.filter(({ state }) => state === "working" || state === "idle");
  const depth = queues.reduce((sum, one) => sum + one.depth, 0);
  const inWork = queues.reduce((sum, one) => sum + one.in_work, 0);
  const lag = Math.max(0, ...queues.map((one) => one.lag_seconds));
  return (
    <>
      <Facts
        facts={[
          { label: "Live workers", value: count(live.length) },
          { label: "Queue depth", value: count(depth), note: "shards, tasks and chores that wait" },
          { label: "Lag", value: depth ? seconds(lag) : "–", note: "the longest wait" },
          { label: "In work", value: count(inWork) },
          {
            label: "Results per second",
            value: score(found.results_per_second),
            note: "in the last minute",
          },
          {
            label: "Takeovers",
            value: count(totals.takeovers),
            note: `${count(totals.retries)} retries, ${count(totals.hand_backs)} handed back`,
          },
        ]}
      />
      {live.length === 0 && <NoWorker />}
      {stuck.length > 0 && <StuckTable stuck={stuck} />}
      <RunTable runs={runs} />
      {queues.length > 0 && <QueueTable queues={queues} />}
      {workers.length > 0 && <WorkerTable workers={workers} />}
      {chores.length > 0 && <ChoreTable chores={chores} />}
    </>
  );
}

function NoWorker() {
  return (
    <EmptyNote title="No worker is running">
      <Text mb="sm">Runs wait until there is one. It needs the database and no open port.</Text>
      <Command purpose="Start a worker">arena worker</Command>
    </EmptyNote>
  );
}

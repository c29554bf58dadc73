import { Group, Text, Title } from "@mantine/core";
import { Link } from "wouter";
import { useTask } from "../../api/market";
import { BackLink } from "../../ui/BackLink";
import { Facts } from "../../ui/Facts";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { When } from "../../ui/When";
import { ApplicantTable } from "./ApplicantTable";
import { EscrowTable } from "./EscrowTable";
import { History } from "./History";
import { SubmittedResult } from "./SubmittedResult";
import { TaskActions } from "./TaskActions";
import { TaskStandard } from "./TaskStandard";
import { TaskState } from "./TaskState";
import { shortened } from "./TaskTable";
import { TermTable } from "./TermTable";
import { Verdict } from "./Verdict";

/** One task: description, submission, verdict, money and history. */
export function TaskView({ taskId }: { taskId: number }) {
  const { data, error, refetch } = useTask(taskId);
  const back = <BackLink href="/market">Back to the market</BackLink>;
  if (!data)
    return (
      <Page title="Task" before={back}>
        {error ? <ProblemNote error={error} onRetry={refetch} /> : <Loading what="the task" />}
      </Page>
    );
  const { task } = data;
  return (
    <Page
      title={shortened(task.description)}
      tabTitle={`Task ${task.id}`}
      before={back}
      lead={
        <Group gap="md">
          <TaskState state={task.state} />
          <span>
            #{task.id} by <Untrusted text={task.poster} /> · posted <When at={task.posted_at} />
          </span>
        </Group>
      }
      actions={<TaskActions task={task} />}
    >
      <Facts
        facts={[
          { label: "Reward", value: `${task.reward} ${task.currency}`, note: "test money" },
          { label: "Deadline", value: <When at={task.deadline} /> },
          {
            label: "Agent",
            value: task.agent ? <AgentLink agent={task.agent} /> : "–",
            note: task.agent_version && <Untrusted text={task.agent_version} />,
          },
          {
            label: "Judge",
            value: <Untrusted text={task.judge} />,
            note: task.is_self_judged ? "the poster" : undefined,
          },
          { label: "Paid out", value: `${task.payout} ${task.currency}` },
        ]}
      />
      <section aria-label="Task">
        <Title order={2} size="h4" mb="xs">
          Description
        </Title>
        <UntrustedBlock label="Description" text={task.description} />
      </section>
      <TaskStandard cid={task.evaluationCID} />
      {task.resultHash && (
        <section aria-label="Submission">
          <Title order={2} size="h4" mb="xs">
            Submission
          </Title>
          <Text mb="xs">
            By <Untrusted text={task.agent ?? "nobody"} />, <When at={task.submitted_at} />
          </Text>
          <SubmittedResult cid={task.resultHash} />
        </section>
      )}
      <Verdict task={task} />
      <History events={data.events} task={task} />
      <TermTable task={task} />
      {data.applicants.length > 0 && <ApplicantTable applicants={data.applicants} task={task} />}
      <EscrowTable entries={data.entries} currency={task.currency} />
    </Page>
  );
}

function AgentLink({ agent }: { agent: string }) {
  return (
    <Link href={`/agents/${encodeURIComponent(agent)}`}>
      <Untrusted text={agent} />
    </Link>
  );
}

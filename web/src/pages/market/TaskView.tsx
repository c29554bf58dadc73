import { Group, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import { Link } from "wouter";
import { useTask, useTaskAction } from "../../api/market";
import type { Schemas } from "../../api/queries";
import { BackLink } from "../../ui/BackLink";
import { Facts } from "../../ui/Facts";
import { Label } from "../../ui/Label";
import { Loading } from "../../ui/Loading";
import { Page } from "../../ui/Page";
import { ProblemNote } from "../../ui/ProblemNote";
import { Untrusted } from "../../ui/Untrusted";
import { UntrustedBlock } from "../../ui/UntrustedBlock";
import { When } from "../../ui/When";
import { ApplicantTable } from "./ApplicantTable";
import { isLong } from "./amounts";
import { ChainProblem } from "./ChainProblem";
import { missingDescription, titleOf } from "./descriptions";
import { EscrowTable } from "./EscrowTable";
import { History } from "./History";
import { isOnChain, ledgerMark, worthNothing } from "./ledgers";
import classes from "./market.module.css";
import { PendingMove } from "./PendingMove";
import { SubmittedResult } from "./SubmittedResult";
import { TaskActions } from "./TaskActions";
import { TaskStandard } from "./TaskStandard";
import { TaskState } from "./TaskState";
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
  return <Story story={data} before={back} />;
}

function Story({ story, before }: { story: Schemas["TaskStory"]; before: ReactNode }) {
  const { task } = story;
  const { send, pending } = useTaskAction(task);
  const missing = missingDescription(task);
  return (
    <Page
      title={titleOf(task)}
      tabTitle={`Task ${task.id}`}
      before={before}
      lead={
        <Group gap="md">
          <TaskState state={task.state} />
          {isOnChain(task) && <Label tone="quiet">{ledgerMark(task)}</Label>}
          <span>
            #{task.id} by <Untrusted text={task.poster} /> · posted <When at={task.posted_at} />
          </span>
        </Group>
      }
      actions={!pending && <TaskActions task={task} onAct={send} />}
    >
      {pending && <PendingMove pending={pending} />}
      {isOnChain(task) && <ChainProblem />}
      <Facts
        facts={[
          {
            label: "Reward",
            value: `${task.reward} ${task.currency}`,
            note: worthNothing(task),
            isWide: isLong(task.reward),
          },
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
          {
            label: "Paid out",
            value: `${task.payout} ${task.currency}`,
            isWide: isLong(task.payout),
          },
        ]}
      />
      <section aria-label="Task">
        <Title order={2} size="h4" mb="xs">
          Description
        </Title>
        {missing ? (
          <Text>
            The description is not here yet:{" "}
            <code className={classes.evidence}>
              <Untrusted text={missing} />
            </code>
          </Text>
        ) : (
          <UntrustedBlock label="Description" text={task.description} />
        )}
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
      <History events={story.events} task={task} />
      <TermTable task={task} />
      {story.applicants.length > 0 && (
        <ApplicantTable
          applicants={story.applicants}
          task={task}
          onAct={pending ? undefined : send}
        />
      )}
      <EscrowTable entries={story.entries} currency={task.currency} />
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

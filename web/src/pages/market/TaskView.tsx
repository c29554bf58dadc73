import { Group, Text, Title } from "@mantine/core";
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
import { Story } from "./Story";
import { TaskState } from "./TaskState";
import { shortened } from "./TaskTable";
import { Verdict } from "./Verdict";

/** One task: what is asked, who does it, the verdict, the money, and all that happened. */
export function TaskView({ taskId }: { taskId: number }) {
  const { data, error, refetch } = useTask(taskId);
  const back = <BackLink href="/market">The market</BackLink>;
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
    >
      <Facts
        facts={[
          { label: "Reward", value: `${task.reward} ${task.currency}`, note: "test money" },
          { label: "Deadline", value: <When at={task.deadline} /> },
          { label: "Agent", value: task.agent ?? "–", note: task.agent_version ?? undefined },
          {
            label: "Judge",
            value: task.judge,
            note: task.is_self_judged ? "the poster" : undefined,
          },
          { label: "Paid out", value: `${task.payout} ${task.currency}` },
        ]}
      />
      <section aria-label="Asked">
        <Title order={2} size="h4" mb="xs">
          Asked
        </Title>
        <UntrustedBlock label="Description" text={task.description} />
        <Text size="sm" c="dimmed" mt="xs" style={{ overflowWrap: "anywhere" }}>
          Judged by the standard <code>{task.evaluationCID}</code>
        </Text>
      </section>
      <Verdict task={task} />
      <Story events={data.events} exitAt={task.exit_at} />
      {data.applicants.length > 0 && (
        <ApplicantTable applicants={data.applicants} chosen={task.agent} />
      )}
      <EscrowTable entries={data.entries} currency={task.currency} />
    </Page>
  );
}

import { Table, Text, Title } from "@mantine/core";
import type { ReactNode } from "react";
import type { Schemas } from "../../api/queries";
import { Hash } from "../../ui/Hash";
import { count, span } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { WideTable } from "../../ui/WideTable";
import { ledgerInWords, networkInWords } from "./ledgers";

type Task = Schemas["Task"];

const ASSIGNMENTS: Record<Task["assignment"], string> = {
  manual: "the poster chooses",
  first: "to the first applicant",
  best_reputation: "to the applicant with the best reputation",
};

/** The terms that were fixed when the task was posted. */
export function TermTable({ task }: { task: Task }) {
  return (
    <section aria-label="Terms of the task">
      <Title order={2} size="h4">
        Terms
      </Title>
      <Text size="sm" c="dimmed" mb="sm">
        Fixed when the task was posted.
      </Text>
      <WideTable label="Terms" minWidth={300}>
        <Table.Tbody>
          {termsOf(task).map(([name, value]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" w="11rem">
                {name}
              </Table.Th>
              <Table.Td>{value}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

function termsOf(task: Task): [string, ReactNode][] {
  const isDisputable = task.dispute_window_seconds > 0;
  return [
    ["Assignment", <Assigning key="assignment" task={task} />],
    ["Applicants", `${task.max_applicants} at most`],
    ["Commitment", task.commit_deadline ? <By at={task.commit_deadline} /> : "not required"],
    ["Judge", <Untrusted key="judge" text={task.judge} />],
    ["Judging window", `${span(task.judge_window_seconds)} from the submission`],
    [
      "Fallback judge",
      named(task.fallback_judge, `${span(task.fallback_window_seconds)} after the judging window`),
    ],
    ["Without a verdict", timeoutOf(task)],
    [
      "Disputes",
      isDisputable
        ? `within ${span(task.dispute_window_seconds)} of the verdict, with a bond of ${task.bond} ${task.currency}`
        : "none: the verdict is final",
    ],
    ["Arbiter", named(task.arbiter, `${span(task.arbiter_window_seconds)} from the dispute`)],
    ["Ledger", ledgerInWords(task)],
    ...chainOf(task),
  ];
}

/** Where on a chain a task is; nothing for the embedded ledger. */
function chainOf({ network, contract, chain_task }: Task): [string, ReactNode][] {
  const rows: [string, ReactNode][] = [];
  if (network) rows.push(["Network", networkInWords(network)]);
  if (contract) rows.push(["Contract", <Hash key="contract" what="contract" text={contract} />]);
  if (chain_task) rows.push(["Number in the contract", count(chain_task)]);
  return rows;
}

function Assigning({ task }: { task: Task }) {
  return (
    <>
      {ASSIGNMENTS[task.assignment]}
      {task.apply_until && (
        <>
          {" "}
          of those who apply before <When at={task.apply_until} />
        </>
      )}
    </>
  );
}

function By({ at }: { at: string }) {
  return (
    <>
      before <When at={at} />
    </>
  );
}

function named(who: string | null, window: string): ReactNode {
  if (who === null) return "none";
  return (
    <>
      <Untrusted text={who} />, {window}
    </>
  );
}

function timeoutOf(task: Task): string {
  if (task.timeout_policy === "refund") return "the reward goes back to the poster";
  return `${task.agent_share_percent} % of the reward to the agent, the rest back to the poster`;
}

import { Table, Title } from "@mantine/core";
import type { TaskAction } from "../../api/market";
import type { Schemas } from "../../api/queries";
import { ConfirmButton } from "../../ui/ConfirmButton";
import { marked } from "../../ui/marks";
import { count, score } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { useHasPassed } from "../../ui/useHasPassed";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { rate } from "./AgentTable";

interface ApplicantTableProps {
  applicants: Schemas["Applicant"][];
  task: Schemas["Task"];
  /** Undefined while another move is not final. */
  onAct?: (action: TaskAction) => Promise<unknown>;
}

/** The applicants of a task, the best first. */
export function ApplicantTable({ applicants, task, onAct }: ApplicantTableProps) {
  const isOver = useHasPassed(task.deadline);
  const isChoosable = task.state === "open" && task.assignment === "manual" && !isOver;
  const onChoose = isChoosable ? onAct : undefined;
  return (
    <section aria-label="Applicants">
      <Title order={2} size="h4" mb="sm">
        Applicants
      </Title>
      <WideTable isCards label="Applicants" minWidth={560}>
        <Head>
          <Table.Th role="columnheader" ta="right">
            Rank
          </Table.Th>
          <Table.Th role="columnheader">Agent</Table.Th>
          <Table.Th role="columnheader" ta="right">
            Win rate
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Average score
          </Table.Th>
          <Table.Th role="columnheader" ta="right">
            Judged
          </Table.Th>
          <Table.Th role="columnheader">Applied</Table.Th>
          {onChoose && <Table.Th role="columnheader">Choose</Table.Th>}
        </Head>
        <Table.Tbody role="rowgroup">
          {applicants.map((one) => (
            <Table.Tr role="row" key={one.agent}>
              <Cell place="beside" ta="right">
                {one.rank}
              </Cell>
              <Cell place="title" fw={one.agent === task.agent ? 650 : undefined}>
                <Untrusted text={`${one.agent} ${one.version}`} />
                {one.agent === task.agent && " · assigned"}
              </Cell>
              <Cell label="Win rate" ta="right">
                {rate(one.reputation.win_rate)}
              </Cell>
              <Cell label="Average score" ta="right">
                {score(one.reputation.average_score)}
              </Cell>
              <Cell label="Judged" ta="right">
                {count(one.reputation.judged)}
              </Cell>
              <Cell label="Applied">
                <When at={one.applied_at} />
              </Cell>
              {onChoose && (
                <Cell>
                  <ConfirmButton
                    label="Assign"
                    question={`Assign the task to ${marked(one.agent)}?`}
                    confirm="Assign the task"
                    refuse="Cancel"
                    onConfirm={() => onChoose({ move: "assign", agent: one.agent })}
                  >
                    You act as <Untrusted text={task.poster} />, the poster. Only this agent can
                    then submit a result, until <When at={task.deadline} />. It cannot be undone.
                  </ConfirmButton>
                </Cell>
              )}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

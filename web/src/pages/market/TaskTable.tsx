import { Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { Label } from "../../ui/Label";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { amountPlace } from "./amounts";
import { titleOf } from "./descriptions";
import { isOnChain, ledgerMark } from "./ledgers";
import { TaskState } from "./TaskState";

/** Tasks, newest first. */
export function TaskTable({ tasks }: { tasks: Schemas["Task"][] }) {
  const isMarked = tasks.some(isOnChain);
  const rewardPlace = amountPlace(tasks.map(({ reward }) => reward));
  return (
    <WideTable isCards label="Tasks" minWidth={820}>
      <Head>
        <Table.Th role="columnheader">Task</Table.Th>
        <Table.Th role="columnheader">State</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Reward
        </Table.Th>
        <Table.Th role="columnheader">Agent</Table.Th>
        <Table.Th role="columnheader" ta="right">
          Score
        </Table.Th>
        <Table.Th role="columnheader">Deadline</Table.Th>
      </Head>
      <Table.Tbody role="rowgroup">
        {tasks.map((task) => (
          <Table.Tr role="row" key={task.id}>
            <Cell place="title">
              <Link href={`/market/tasks/${task.id}`}>
                <Untrusted text={titleOf(task)} />
              </Link>
              <Text size="xs" c="dimmed">
                #{task.id} by <Untrusted text={task.poster} /> · {count(task.applicant_count)}{" "}
                applied {isMarked && <Label tone="quiet">{ledgerMark(task)}</Label>}
              </Text>
            </Cell>
            <Cell place="beside">
              <TaskState state={task.state} />
            </Cell>
            <Cell place={rewardPlace} label="Reward" ta="right">
              {task.reward} {task.currency}
            </Cell>
            <Cell label="Agent">{task.agent ? <Untrusted text={task.agent} /> : "–"}</Cell>
            <Cell label="Score" ta="right">
              {count(task.final_score ?? task.score)}
            </Cell>
            <Cell label="Deadline">
              <When at={task.deadline} />
            </Cell>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

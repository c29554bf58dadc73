import { Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import { TaskState } from "./TaskState";

const FIRST_CHARACTERS = 120;

/** Tasks, newest first. */
export function TaskTable({ tasks }: { tasks: Schemas["Task"][] }) {
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
                <Untrusted text={shortened(task.description)} />
              </Link>
              <Text size="xs" c="dimmed">
                #{task.id} by <Untrusted text={task.poster} /> · {count(task.applicant_count)}{" "}
                applied
              </Text>
            </Cell>
            <Cell place="beside">
              <TaskState state={task.state} />
            </Cell>
            <Cell place="score" ta="right">
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

/** The first line of a description, as far as a title goes. */
export function shortened(description: string): string {
  const line = description.trim().split("\n")[0] ?? "";
  return line.length > FIRST_CHARACTERS ? `${line.slice(0, FIRST_CHARACTERS)}…` : line;
}

import { Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";
import { WideTable } from "../../ui/WideTable";
import { TaskState } from "./TaskState";

const FIRST_CHARACTERS = 120;

/** Tasks, newest first. */
export function TaskTable({ tasks }: { tasks: Schemas["Task"][] }) {
  return (
    <WideTable label="Tasks" minWidth={820}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Task</Table.Th>
          <Table.Th>State</Table.Th>
          <Table.Th ta="right">Reward</Table.Th>
          <Table.Th>Agent</Table.Th>
          <Table.Th ta="right">Score</Table.Th>
          <Table.Th>Deadline</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {tasks.map((task) => (
          <Table.Tr key={task.id}>
            <Table.Td>
              <Link href={`/market/tasks/${task.id}`}>
                <Untrusted text={shortened(task.description)} />
              </Link>
              <Text size="xs" c="dimmed">
                #{task.id} by <Untrusted text={task.poster} /> · {count(task.applicant_count)}{" "}
                applied
              </Text>
            </Table.Td>
            <Table.Td>
              <TaskState state={task.state} />
            </Table.Td>
            <Table.Td ta="right">
              {task.reward} {task.currency}
            </Table.Td>
            <Table.Td>{task.agent ? <Untrusted text={task.agent} /> : "–"}</Table.Td>
            <Table.Td ta="right">{count(task.final_score ?? task.score)}</Table.Td>
            <Table.Td>
              <When at={task.deadline} />
            </Table.Td>
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

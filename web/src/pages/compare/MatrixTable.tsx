import { Table, Text } from "@mantine/core";
import { Link } from "wouter";
import type { Schemas } from "../../api/queries";
import { marked } from "../../ui/marks";
import { Outcome } from "../../ui/Outcome";
import { Untrusted } from "../../ui/Untrusted";
import { Cell, Head, WideTable } from "../../ui/WideTable";
import classes from "./MatrixTable.module.css";
import { named } from "./words";

interface MatrixTableProps {
  agents: Schemas["MatrixAgent"][];
  rows: Schemas["MatrixRow"][];
}

const NAME_WIDTH = 240;
const AGENT_WIDTH = 130;

/** A row for each test, a column for each agent; each cell leads to the trial behind it. */
export function MatrixTable({ agents, rows }: MatrixTableProps) {
  return (
    <WideTable
      isCards
      label="Tests against agents"
      minWidth={NAME_WIDTH + agents.length * AGENT_WIDTH}
    >
      <Head>
        <Table.Th role="columnheader" className={classes.test}>
          Test
        </Table.Th>
        {agents.map(({ agent }) => (
          <Table.Th role="columnheader" key={agent}>
            <Untrusted text={named(agent)} />
          </Table.Th>
        ))}
      </Head>
      <Table.Tbody role="rowgroup">
        {rows.map((row, index) => (
          // An edited test has a row for each of its contents, one after the other.
          <Table.Tr
            role="row"
            key={`${row.test_id} ${index}`}
            className={classes.row}
            data-differs={row.differs || undefined}
          >
            <Cell role="rowheader" place="title" className={classes.test} fw={600}>
              <Link href={`/catalog/tests/${encodeURIComponent(row.test_id)}`}>
                <Untrusted text={row.name} />
              </Link>
              <Text size="xs" c="dimmed" fw={400}>
                <Untrusted text={row.test_id} /> · <Untrusted text={row.category} />
                {row.is_edited && " · edited between the runs"}
              </Text>
            </Cell>
            {agents.map((column, place) => (
              <Cell key={column.agent} label={marked(named(column.agent))}>
                <Trials column={column} cell={row.cells[place] ?? null} />
              </Cell>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </WideTable>
  );
}

interface TrialsProps {
  column: Schemas["MatrixAgent"];
  cell: Schemas["MatrixCell"] | null;
}

/** How the agent did on the test. */
function Trials({ column, cell }: TrialsProps) {
  if (cell === null)
    return (
      <Text span c="dimmed" size="sm">
        not run
      </Text>
    );
  const trials = cell.trials > 1 ? `${cell.passed} of ${cell.trials}` : undefined;
  return (
    <Link href={`/runs/${column.run_id}/results/${cell.result_id}`} className={classes.cell}>
      <Outcome passed={cell.passed === cell.trials}>{trials}</Outcome>
    </Link>
  );
}

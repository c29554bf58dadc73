import { Table, Title } from "@mantine/core";
import { Fragment } from "react";
import type { Schemas } from "../../api/queries";
import { Label } from "../../ui/Label";
import { count } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { WideTable } from "../../ui/WideTable";
import classes from "./catalog.module.css";

const STATES = {
  good: <Label tone="good">valid</Label>,
  last_good: <Label tone="warn">invalid, last valid version in use</Label>,
  bad: <Label tone="bad">invalid</Label>,
};

/** A path, which may be broken after a slash. */
function FilePath({ path }: { path: string }) {
  return path.split(/(?<=\/)/).map((part, index) => (
    // Two parts may be equal, so the index is the key.
    <Fragment key={index}>
      <Untrusted text={part} />
      <wbr />
    </Fragment>
  ));
}

/** The files that tests come from. */
export function SourceTable({ sources }: { sources: Schemas["CatalogSource"][] }) {
  return (
    <section aria-label="Files">
      <Title order={2} size="h4" mb="sm">
        Files
      </Title>
      <WideTable label="Test files" minWidth={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>File</Table.Th>
            <Table.Th ta="right">Tests</Table.Th>
            <Table.Th>State</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {sources.map((source) => (
            <Table.Tr key={source.file}>
              <Table.Td className={classes.file}>
                <FilePath path={source.file} />
              </Table.Td>
              <Table.Td ta="right">{count(source.tests)}</Table.Td>
              <Table.Td>{STATES[source.state]}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
    </section>
  );
}

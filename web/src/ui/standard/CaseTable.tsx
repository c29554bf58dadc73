import { Table, Text } from "@mantine/core";
import { amount } from "../numbers";
import { Untrusted } from "../Untrusted";
import { WideTable } from "../WideTable";
import { asList, asRecord, asText } from "./reading";
import classes from "./standard.module.css";

const MOST = 100;

/** The cases that code has to pass: input and expected output. */
export function CaseTable({ body }: { body: Record<string, unknown> }) {
  const cases = asList(body.cases).map(asRecord);
  const sealed = asList(body.sealed).length;
  const name = body.functionName;
  return (
    <>
      <Text>
        The answer is code, run in the sandbox.{" "}
        {typeof name === "string" ? (
          <>
            Its function <code>{name}</code> must give:
          </>
        ) : (
          "The program reads the input as JSON and must print:"
        )}
      </Text>
      <WideTable label="Test cases" minWidth={480}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>Case</Table.Th>
            <Table.Th>Input</Table.Th>
            <Table.Th>Expected</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {cases.slice(0, MOST).map((one, index) => (
            // Two cases may be equal, so the index is the key.
            <Table.Tr key={index}>
              <Table.Td>
                {index + 1}
                {typeof one.desc === "string" && one.desc && (
                  <>
                    {": "}
                    <Untrusted text={one.desc} />
                  </>
                )}
              </Table.Td>
              <Table.Td className={classes.code}>
                <Untrusted text={asList(one.input).map(asText).join(", ")} />
              </Table.Td>
              <Table.Td className={classes.code}>
                <Untrusted text={asText(one.expected)} />
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </WideTable>
      {(cases.length > MOST || sealed > 0) && (
        <Text size="sm" c="dimmed">
          {cases.length > MOST && `and ${amount(cases.length - MOST, "more case", "more cases")}. `}
          {sealed > 0 && `${amount(sealed, "case")} sealed until the verdict.`}
        </Text>
      )}
    </>
  );
}

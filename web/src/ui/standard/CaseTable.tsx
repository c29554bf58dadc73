import { Table, Text } from "@mantine/core";
import { amount } from "../numbers";
import { Untrusted } from "../Untrusted";
import { Cell, Head, WideTable } from "../WideTable";
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
      <WideTable isCards label="Test cases" minWidth={480}>
        <Head>
          <Table.Th role="columnheader">Case</Table.Th>
          <Table.Th role="columnheader">Input</Table.Th>
          <Table.Th role="columnheader">Expected</Table.Th>
        </Head>
        <Table.Tbody role="rowgroup">
          {cases.slice(0, MOST).map((one, index) => (
            // Two cases may be equal, so the index is the key.
            <Table.Tr role="row" key={index}>
              <Cell place="title">
                {index + 1}
                {typeof one.desc === "string" && one.desc && (
                  <>
                    {": "}
                    <Untrusted text={one.desc} />
                  </>
                )}
              </Cell>
              <Cell label="Input" className={classes.code}>
                <Untrusted text={asList(one.input).map(asText).join(", ")} />
              </Cell>
              <Cell label="Expected" className={classes.code}>
                <Untrusted text={asText(one.expected)} />
              </Cell>
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

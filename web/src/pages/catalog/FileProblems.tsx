import { Alert, List, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Warning } from "../../ui/icons";
import { amount } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import classes from "./catalog.module.css";

const MOST = 50;

interface FileProblemsProps {
  problems: Schemas["FileProblem"][];
  sources: Schemas["CatalogSource"][];
}

/** The problems in the test files, with their positions. */
export function FileProblems({ problems, sources }: FileProblemsProps) {
  if (problems.length === 0) return null;
  const kept = sources.filter((source) => source.state === "last_good").length;
  return (
    <Alert
      role="alert"
      color="red"
      variant="light"
      icon={<Warning />}
      title={`${amount(problems.length, "problem")} in the test files`}
    >
      <Text size="sm" mb="xs">
        {kept > 0
          ? "Tests of a file that was valid before stay in use. Fix the file and it is reloaded."
          : "Tests with problems are not used. Fix the file and it is reloaded."}
      </Text>
      <List size="sm" className={classes.problems}>
        {problems.slice(0, MOST).map((problem) => (
          <List.Item key={`${problem.file}:${problem.line}:${problem.column} ${problem.message}`}>
            <code>
              <Untrusted text={`${problem.file}:${problem.line}:${problem.column}`} />
            </code>
            : <Untrusted text={problem.message} />
          </List.Item>
        ))}
      </List>
      {problems.length > MOST && <Text size="sm">and {problems.length - MOST} more</Text>}
    </Alert>
  );
}

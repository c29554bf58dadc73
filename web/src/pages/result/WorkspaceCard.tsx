import { Alert, Paper, Text, Title } from "@mantine/core";
import { Diff } from "../../ui/Diff";
import { Warning } from "../../ui/icons";
import { asList, asRecord, asText } from "../../ui/standard/reading";
import { Untrusted } from "../../ui/Untrusted";
import { useFew } from "../../ui/useFew";
import classes from "./WorkspaceCard.module.css";

/** A hostile workspace has thousands of files. */
const FIRST_FILES = 30;

/** What the agent made of its workspace: the diff, every changed file, and what was left out. */
export function WorkspaceCard({ workspace }: { workspace: Record<string, unknown> }) {
  const changes = asList(workspace.changes).map(asRecord);
  const problems = asList(workspace.problems).map(asText);
  const { shown, note } = useFew(changes, FIRST_FILES);
  return (
    <Paper withBorder p="lg" component="section" aria-label="Workspace">
      <Title order={2} size="h4" mb="xs">
        Workspace
      </Title>
      {workspace.is_protected === false && (
        <Alert color="yellow" icon={<Warning />} title="Unprotected" mb="sm">
          The agent ran on the machine of Arena and could have read the hidden files. Run it in a
          container to rule that out.
        </Alert>
      )}
      {problems.length > 0 && (
        <>
          <Text fw={600}>Left out</Text>
          <ul className={classes.list}>
            {problems.slice(0, FIRST_FILES).map((problem, index) => (
              <li key={index}>
                <Untrusted text={problem} />
              </li>
            ))}
          </ul>
        </>
      )}
      <Text fw={600}>{changes.length ? "Changed files" : "No file was changed."}</Text>
      <ul className={classes.list}>
        {shown.map((change, index) => (
          <li key={index}>
            <Text span size="sm" c="dimmed">
              {asText(change.kind)}
            </Text>{" "}
            <Untrusted text={asText(change.path)} />
          </li>
        ))}
      </ul>
      {note}
      {typeof workspace.diff === "string" && workspace.diff && (
        <Diff label="Difference" text={workspace.diff} />
      )}
      {changes.length > 0 && !workspace.diff && (
        <Text size="sm" c="dimmed">
          No difference is kept: the test collects none of these files.
        </Text>
      )}
    </Paper>
  );
}

import { Alert, Button, Group, List, Text } from "@mantine/core";
import { asProblem, type Problem } from "../api/problem";
import { Warning } from "./icons";

interface ProblemNoteProps {
  error: unknown;
  onRetry?: () => void;
}

/** What went wrong, in the server's words, and a way on. */
export function ProblemNote({ error, onRetry }: ProblemNoteProps) {
  const problem = asProblem(error);
  return (
    <Alert role="alert" color="red" variant="light" icon={<Warning />} title={titleOf(problem)}>
      <Text size="sm">{problem.detail}</Text>
      {(problem.errors ?? []).length > 0 && (
        <List size="sm" mt="xs">
          {(problem.errors ?? []).map((misfit) => (
            <List.Item key={`${misfit.at} ${misfit.message}`}>
              <code>{misfit.at}</code>: {misfit.message}
            </List.Item>
          ))}
        </List>
      )}
      <Group mt="sm" gap="xs">
        {onRetry && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Text size="sm">{wayOn(problem)}</Text>
      </Group>
    </Alert>
  );
}

function titleOf(problem: Problem): string {
  return problem.status === 404 ? "Not here" : problem.title;
}

function wayOn(problem: Problem): string {
  switch (problem.status) {
    case 0:
      return "Is `arena serve` running? This page goes on by itself when it answers again.";
    case 404:
      return "It may belong to another team: the team is chosen at the top of the page.";
    case 503:
      return "This passes: the server could not reach something that it needs.";
    default:
      return "";
  }
}

import { Alert, Button, Group, List, Text } from "@mantine/core";
import { asProblem, isNotFound, type Problem } from "../api/problem";
import { Warning } from "./icons";
import { Untrusted } from "./Untrusted";

interface ProblemNoteProps {
  error: unknown;
  onRetry?: () => void;
}

/** An error, in the server's words, with what to do about it. */
export function ProblemNote({ error, onRetry }: ProblemNoteProps) {
  const problem = asProblem(error);
  const isMistyped = isNotFound(problem) && problem.status !== 404;
  return (
    <Alert role="alert" color="red" variant="light" icon={<Warning />} title={titleOf(problem)}>
      {!isMistyped && <Details problem={problem} />}
      <Group mt={isMistyped ? 0 : "sm"} gap="xs">
        {onRetry && !isMistyped && (
          <Button size="compact-sm" variant="default" onClick={onRetry}>
            Try again
          </Button>
        )}
        <Text size="sm">{wayOn(problem)}</Text>
      </Group>
    </Alert>
  );
}

/** The details; where there are several, the message is only their summary. */
function Details({ problem }: { problem: Problem }) {
  const misfits = problem.errors ?? [];
  if (misfits.length === 0)
    return (
      <Text size="sm">
        <Untrusted text={problem.detail} />
      </Text>
    );
  return (
    <List size="sm">
      {misfits.map(({ at, message }) => (
        <List.Item key={`${at} ${message}`}>
          <code>
            <Untrusted text={at} />
          </code>
          : <Untrusted text={message} />
        </List.Item>
      ))}
    </List>
  );
}

function titleOf(problem: Problem): string {
  return isNotFound(problem) ? "Not found" : problem.title;
}

function wayOn(problem: Problem): string {
  switch (problem.status) {
    case 0:
      return "Is `arena serve` running? This page reconnects automatically.";
    case 404:
      return "It may belong to another team; switch teams at the top of the page.";
    case 422:
      return isNotFound(problem)
        ? "This address is not valid. Check it for typos, or use the link above the title."
        : "";
    case 503:
      return "This is temporary: the server could not reach a service that it needs.";
    default:
      return "";
  }
}

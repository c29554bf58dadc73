import { Alert, Button, Group, List, Text } from "@mantine/core";
import { asProblem, isNowhere, type Problem } from "../api/problem";
import { Warning } from "./icons";
import { Untrusted } from "./Untrusted";

interface ProblemNoteProps {
  error: unknown;
  onRetry?: () => void;
}

/** What went wrong, in the server's words, and a way on. */
export function ProblemNote({ error, onRetry }: ProblemNoteProps) {
  const problem = asProblem(error);
  const isMistyped = isNowhere(problem) && problem.status !== 404;
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

/** The particulars; where there are several, the sentence only strings them together. */
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
  return isNowhere(problem) ? "Not here" : problem.title;
}

function wayOn(problem: Problem): string {
  switch (problem.status) {
    case 0:
      return "Is `arena serve` running? This page goes on by itself when it answers again.";
    case 404:
      return "It may belong to another team: the team is chosen at the top of the page.";
    case 422:
      return isNowhere(problem)
        ? "Nothing can have this address: it may be mistyped. The link above the title leads to what there is."
        : "";
    case 503:
      return "This passes: the server could not reach something that it needs.";
    default:
      return "";
  }
}

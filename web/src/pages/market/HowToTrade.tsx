import { Paper, Text } from "@mantine/core";
import { Command } from "../../ui/Command";

/** The moves that need a key or a file, as commands. */
export function HowToTrade() {
  const arena = `arena --server ${window.location.origin}`;
  return (
    <Paper withBorder p="md" component="details">
      <summary>Post a task, work on one, or judge</summary>
      <Text size="sm" my="sm">
        Here you assign an applicant, cancel a task, close one whose time is over, and answer
        reviews. Everything else is done in a terminal, because an agent signs with its own key and
        a standard is a file.
      </Text>
      <Command purpose="Post a task">
        {`${arena} task post "Write double(n)." --standard double.json --reward 0.05 --as alice --judge judy`}
      </Command>
      <Command purpose="Let an agent look for tasks and do them">
        {`${arena} join --agent-id my-agent --exec "python solver.py"`}
      </Command>
      <Command purpose="Judge submissions">{`${arena} judge --once --as judy`}</Command>
    </Paper>
  );
}

import { Paper, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Findings } from "../../ui/Findings";
import { dollars, score } from "../../ui/numbers";
import { asList, asRecord, asText } from "../../ui/standard/reading";
import { Untrusted } from "../../ui/Untrusted";

const ENDS: Record<string, string> = {
  finished: "said that it was finished",
  max_turns: "used all of its turns",
  agent_failed: "stopped because the agent failed",
};

/** How well the model that played the user kept to its script. It decides nothing. */
export function SimulatedUser({ user }: { user: Record<string, unknown> }) {
  const cost = typeof user.cost_usd === "number" ? user.cost_usd : null;
  return (
    <Paper withBorder p="lg" component="section" aria-label="Simulated user">
      <Title order={2} size="h4">
        Simulated user
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        <Untrusted text={asText(user.model)} /> kept to its script with{" "}
        {score(numberIn(user.score))} of 100
        {typeof user.judge_score === "number" && `, ${score(user.judge_score)} by the judge`}; it{" "}
        {ENDS[asText(user.ended)] ?? "ended"}.{" "}
        {cost === null ? "Its cost is unknown, and" : `It cost ${dollars(cost)}, which`} does not
        count for the agent.
      </Text>
      <Findings findings={asList(user.findings).map(asFinding)} />
    </Paper>
  );
}

function numberIn(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}

function asFinding(value: unknown): Schemas["Finding"] {
  const { criterion, passed, reason } = asRecord(value);
  return {
    criterion: asText(criterion),
    passed: passed === true,
    reason: asText(reason),
    evidence: null,
    score: null,
    weight: null,
    mark: null,
  };
}

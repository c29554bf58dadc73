import { Alert, Stack, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { inWords } from "./words";

/** Pairs described in a sentence; the table below has all. */
const SENTENCES = 3;

/** The result of the comparison, in words. */
export function Verdict({ comparison }: { comparison: Schemas["Comparison"] }) {
  const { unknown, pairs } = comparison;
  return (
    <Stack gap="sm">
      {unknown.length > 0 && (
        <Alert color="yellow" title="Some agents are left out">
          There is no data for <Untrusted text={unknown.join(", ")} /> in this team.
        </Alert>
      )}
      <div role="status">
        <Text size="lg" fw={650}>
          <Untrusted text={headline(comparison)} />
        </Text>
        {pairs.slice(0, SENTENCES).map((pair) => (
          <Text key={`${pair.first} ${pair.second}`} mt={4}>
            <Untrusted text={inWords(pair)} />
          </Text>
        ))}
      </div>
    </Stack>
  );
}

function headline({ winner, winner_version, significant, comparison }: Schemas["Comparison"]) {
  if (winner === null)
    return comparison.length < 2
      ? "There are fewer than two agents to compare."
      : "No winner: the overall scores are equal, or too few are known.";
  const name = `${winner} ${winner_version}`;
  return significant
    ? `${name} is ahead, and the difference is significant.`
    : `${name} has the higher overall score, but the tests do not show that it is better.`;
}

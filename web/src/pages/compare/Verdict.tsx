import { Alert, Stack, Text } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Untrusted } from "../../ui/Untrusted";
import { inWords } from "./words";

/** As many pairs as are worth a sentence; the table below has all. */
const SENTENCES = 3;

/** What the comparison says, in plain words. */
export function Verdict({ comparison }: { comparison: Schemas["Comparison"] }) {
  const { unknown, pairs } = comparison;
  return (
    <Stack gap="sm">
      {unknown.length > 0 && (
        <Alert color="yellow" title="Some agents take no part">
          Nothing is known of <Untrusted text={unknown.join(", ")} /> in this team.
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
      ? "There are not two agents to compare."
      : "No winner: the overall scores are equal, or too few are known.";
  const name = `${winner} ${winner_version}`;
  return significant
    ? `${name} is ahead, and that is more than luck.`
    : `${name} has the higher overall score, but the tests do not show that it is better.`;
}

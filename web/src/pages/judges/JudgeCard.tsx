import { Paper, Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Facts } from "../../ui/Facts";
import { amount, count, score } from "../../ui/numbers";
import { signed } from "../../ui/signed";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";

type Estimate = Schemas["Estimate"];

/** One judge: how it is asked, and the latest figures about it, each with its interval. */
export function JudgeCard({ judge }: { judge: Schemas["Judge"] }) {
  const name = judge.models.join(", ");
  return (
    <Paper withBorder p="lg" component="section" aria-label={name}>
      <Stack gap="md">
        <div>
          <Title order={2} size="h4">
            <Untrusted text={name} />
          </Title>
          <Text size="sm" c="dimmed">
            <Untrusted text={judge.base_url} /> · {amount(judge.votes, "vote")} each · prompt{" "}
            {judge.prompt_version}
            {judge.temperature !== null && ` · temperature ${judge.temperature}`} · shown{" "}
            {count(judge.max_characters)} characters of an answer
          </Text>
        </div>
        {judge.calibration ? (
          <Calibration figures={judge.calibration} />
        ) : (
          <Text>
            Never measured: nobody knows how far it agrees with people. Measure it with{" "}
            <code>arena judge calibrate</code>.
          </Text>
        )}
        {judge.attack ? (
          <Attack attack={judge.attack} />
        ) : (
          <Text>
            Never attacked. <code>arena judge attack</code> tries to talk it into other scores.
          </Text>
        )}
      </Stack>
    </Paper>
  );
}

function Calibration({ figures }: { figures: Schemas["JudgeFigures"] }) {
  return (
    <section aria-label="Calibration">
      <Title order={3} size="h5" mb={4}>
        Against people
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {amount(figures.items, "answer")} that people had scored, measured{" "}
        <When at={figures.measured_at} />. Below each figure: where the truth may lie (95 %).
      </Text>
      <Facts
        facts={[
          {
            label: "Agreement (kappa)",
            value: plain(figures.kappa, 2),
            note: range(figures.kappa, 2),
          },
          {
            label: "Mean error, points",
            value: plain(figures.mean_error),
            note: range(figures.mean_error),
          },
          { label: "Bias, points", value: signed(figures.bias.value), note: range(figures.bias) },
          {
            label: "Spread when repeated",
            value: plain(figures.spread),
            note: range(figures.spread),
          },
          {
            label: "Changes its mind, %",
            value: plain(percent(figures.flips)),
            note: range(percent(figures.flips)),
          },
        ]}
      />
    </section>
  );
}

function Attack({ attack }: { attack: Schemas["JudgeAttacked"] }) {
  return (
    <section aria-label="Attacks">
      <Title order={3} size="h5" mb={4}>
        Against injections
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {amount(attack.pairs, "pair")} of answers, one of each with an attempt to talk to the judge,
        measured <When at={attack.measured_at} />.
      </Text>
      <Facts
        facts={[
          { label: "Scores moved", value: `${count(attack.moved)} of ${count(attack.pairs)}` },
          { label: "Raised", value: count(attack.raised) },
          { label: "Talked into passing", value: count(attack.flipped) },
          { label: "Mean shift, points", value: signed(attack.mean_shift) },
        ]}
      />
    </section>
  );
}

function plain({ value }: Estimate, digits?: number): string {
  return value === null || digits === undefined ? score(value) : value.toFixed(digits);
}

function range({ low, high }: Estimate, digits = 1): string {
  return low === null || high === null
    ? "too few to tell"
    : `${low.toFixed(digits)} to ${high.toFixed(digits)}`.replaceAll("-", "−");
}

function percent({ value, low, high }: Estimate): Estimate {
  const times = (share: number | null) => (share === null ? null : share * 100);
  return { value: times(value), low: times(low), high: times(high) };
}

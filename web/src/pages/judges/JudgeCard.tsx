import { Paper, Stack, Text, Title } from "@mantine/core";
import type { Schemas } from "../../api/queries";
import { Facts } from "../../ui/Facts";
import { amount, count, score, signed } from "../../ui/numbers";
import { Untrusted } from "../../ui/Untrusted";
import { When } from "../../ui/When";

type Estimate = Schemas["Estimate"];

/** One judge: its settings and its latest measurements, each with its interval. */
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
            {judge.temperature !== null && ` · temperature ${judge.temperature}`} · reads at most{" "}
            {count(judge.max_characters)} characters of an answer
          </Text>
        </div>
        {judge.calibration ? (
          <Calibration figures={judge.calibration} />
        ) : (
          <Text>
            Not calibrated: its agreement with people is unknown. Calibrate it with{" "}
            <code>arena judge calibrate</code>.
          </Text>
        )}
        {judge.attack ? (
          <Attack attack={judge.attack} />
        ) : (
          <Text>
            Not attacked yet. <code>arena judge attack</code> checks whether injections change its
            scores.
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
        Calibration
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {amount(figures.items, "answer")} scored by people, measured{" "}
        <When at={figures.measured_at} />. Below each figure: its 95 % confidence interval.
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
            label: "Spread on repeats",
            value: plain(figures.spread),
            note: range(figures.spread),
          },
          {
            label: "Flip rate, %",
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
        Injection attacks
      </Title>
      <Text size="sm" c="dimmed" mb="xs">
        {amount(attack.pairs, "pair")} of answers, one of each with an injection, measured{" "}
        <When at={attack.measured_at} />.
      </Text>
      <Facts
        facts={[
          { label: "Scores moved", value: `${count(attack.moved)} of ${count(attack.pairs)}` },
          { label: "Raised", value: count(attack.raised) },
          { label: "Flipped to passing", value: count(attack.flipped) },
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
    ? "too few data"
    : `${low.toFixed(digits)} to ${high.toFixed(digits)}`.replaceAll("-", "−");
}

function percent({ value, low, high }: Estimate): Estimate {
  const times = (share: number | null) => (share === null ? null : share * 100);
  return { value: times(value), low: times(low), high: times(high) };
}

import type { Schemas } from "../../api/queries";
import { amount, percent, signed } from "../../ui/numbers";

type Pair = Schemas["ComparedPair"];

/** "a 1.0.0" of "a:1.0.0". */
export function named(agent: string): string {
  return agent.replace(":", " ");
}

/** In percentage points. */
export function points(pair: Pair): number | null {
  return pair.difference === null ? null : pair.difference * 100;
}

/** How two agents differ on their common tests, in a sentence or two. */
export function inWords(pair: Pair): string {
  const [one, other] = [named(pair.first), named(pair.second)];
  const difference = points(pair);
  if (difference === null)
    return `${one} and ${other} ran no test in common, so they cannot be compared.`;
  const common = `the ${amount(pair.common_tests, "test")} that both ran`;
  if (pair.differing.length === 0)
    return `${one} and ${other} did equally well on each of ${common}. ${power(pair)}`.trim();
  const [ahead, behind] = difference >= 0 ? [one, other] : [other, one];
  const rates = [pair.first_pass_rate, pair.second_pass_rate].map((rate) => (rate ?? 0) * 100);
  const [high, low] = difference >= 0 ? rates : [...rates].reverse();
  const summary =
    difference === 0
      ? `${one} and ${other} each passed ${percent(high)} of ${common}, but not the same ones.`
      : `${ahead} passed ${percent(high)} of ${common}, ${behind} ${percent(low)}.`;
  return [summary, significance(pair), clusters(pair), power(pair)].filter(Boolean).join(" ");
}

/** How much independent evidence the common tests are, if less than their number. */
function clusters(pair: Pair): string {
  if (pair.clusters === 0 || pair.clusters >= pair.common_tests) return "";
  return `The tests form ${amount(pair.clusters, "cluster")}: those of one group, or with the same prompt and standard, count as one piece of evidence.`;
}

/** The smallest difference that these tests could show, and what it would take to show this one. */
function power(pair: Pair): string {
  const { power: found, significant } = pair;
  if (!found) return "";
  if (found.detectable_difference === null)
    return "These tests are too few to detect any difference.";
  const smallest = `These tests can detect a difference of ${found.detectable_difference.toFixed(1)} percentage points or more (power 80 %).`;
  return significant ? smallest : `${smallest} ${needed(found, points(pair) ?? 0)}`.trim();
}

function needed({ tests_needed, trials_needed }: Schemas["Power"], observed: number): string {
  const ways = [
    tests_needed === null ? "" : amount(tests_needed, "test"),
    trials_needed === null ? "" : `${amount(trials_needed, "trial")} of each test`,
  ].filter(Boolean);
  const found = Math.abs(observed).toFixed(1);
  return ways.length
    ? `Finding the observed ${found} points would need about ${ways.join(", or ")}.`
    : "";
}

/** Whether the difference is significant. */
export function significance(pair: Pair): string {
  if (pair.adjusted_p_value === null)
    return "There is too little data to tell whether that is significant.";
  const chance = `p = ${pValue(pair.adjusted_p_value)}`;
  return pair.significant
    ? `The difference is significant (${chance}).`
    : `The difference is not significant (${chance}).`;
}

export function pValue(value: number | null): string {
  if (value === null) return "–";
  return value < 0.001 ? "< 0.001" : value.toFixed(3);
}

export function interval(pair: Pair): string {
  return pair.interval ? `${signed(pair.interval.low)} to ${signed(pair.interval.high)}` : "–";
}

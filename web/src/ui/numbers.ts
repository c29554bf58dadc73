/** Numbers for people; unknown is a dash, never a zero. */

const NOTHING = "–";
const whole = new Intl.NumberFormat("en-GB");
const one = new Intl.NumberFormat("en-GB", { maximumFractionDigits: 1, minimumFractionDigits: 1 });

const difference = new Intl.NumberFormat("en-GB", {
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

export function count(value: number | null | undefined): string {
  return value == null ? NOTHING : whole.format(value);
}

export function score(value: number | null | undefined): string {
  return value == null ? NOTHING : one.format(value);
}

export function percent(value: number | null | undefined): string {
  return value == null ? NOTHING : `${one.format(value)} %`;
}

/** A difference, with its sign: "+4.2", "−3", "0". */
export function signed(value: number | null | undefined): string {
  return value == null ? NOTHING : difference.format(value).replace("-", "−");
}

export function range(interval: { low: number; high: number } | null | undefined): string {
  return interval ? `${one.format(interval.low)}–${one.format(interval.high)}` : NOTHING;
}

/** An interval of a user rating, in stars: the server sends 0 to 100 for 1 to 5 stars. */
export function starRange(interval: { low: number; high: number } | null | undefined): string {
  return range(interval && { low: 1 + interval.low / 25, high: 1 + interval.high / 25 });
}

export function dollars(value: number | null | undefined): string {
  if (value == null) return NOTHING;
  if (value === 0) return "$0";
  return value >= 1 ? `$${value.toFixed(2)}` : `$${Number(value.toPrecision(2))}`;
}

export function seconds(value: number | null | undefined): string {
  if (value == null) return NOTHING;
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 120) return `${one.format(value)} s`;
  return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
}

const SPANS = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
] as const;

/** A configured length of time: "1 day", "90 minutes". */
export function span(seconds: number): string {
  const [unit, long] = SPANS.find(([, one]) => seconds % one === 0) ?? ["second", 1];
  return amount(seconds / long, unit);
}

export function bytes(characters: number): string {
  if (characters < 10_000) return `${whole.format(characters)} characters`;
  if (characters < 1_000_000) return `${Math.round(characters / 1000)} thousand characters`;
  return `${(characters / 1_000_000).toFixed(1)} million characters`;
}

/** "1 test", "3 tests". */
export function amount(number: number, singular: string, plural = `${singular}s`): string {
  return `${whole.format(number)} ${number === 1 ? singular : plural}`;
}

/** Amounts are exact decimal text, with up to 18 decimals: they are never made into numbers. */

/** Characters of an amount that a phone has room for beside a title. */
const MOST_CHARACTERS = 10;

export function isZero(amount: string): boolean {
  return /^-?0*(\.0*)?$/.test(amount);
}

/** A change of an account, with its sign: "+0.05", "−0.05". */
export function signedText(amount: string): string {
  return amount.startsWith("-") ? amount.replace("-", "−") : `+${amount}`;
}

/** Whether an amount needs more room than most. */
export function isLong(amount: string): boolean {
  return amount.length > MOST_CHARACTERS;
}

/** Where a phone shows a column of amounts: in the first line, or long ones below it. */
export function amountPlace(amounts: readonly string[]): "score" | undefined {
  return amounts.some(isLong) ? undefined : "score";
}

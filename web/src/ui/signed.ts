const number = new Intl.NumberFormat("en-GB", {
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});

/** A difference, with its sign: "+4.2", "−3", "0". */
export function signed(value: number | null | undefined): string {
  return value == null ? "–" : number.format(value).replace("-", "−");
}

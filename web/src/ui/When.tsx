const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

/** A moment in the reader's own time. */
export function When({ at }: { at: string | null | undefined }) {
  if (!at) return <>–</>;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exact.format(moment)}>
      {day.format(moment)}
    </time>
  );
}

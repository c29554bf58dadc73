const day = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "short" });
const second = new Intl.DateTimeFormat("en-GB", { dateStyle: "medium", timeStyle: "medium" });
const exact = new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeStyle: "long" });

interface WhenProps {
  at: string | null | undefined;
  /** Where several moments may share a minute. */
  hasSeconds?: boolean;
}

/** A moment in the reader's own time. */
export function When({ at, hasSeconds }: WhenProps) {
  if (!at) return <>–</>;
  const moment = new Date(at);
  return (
    <time dateTime={at} title={exact.format(moment)}>
      {(hasSeconds ? second : day).format(moment)}
    </time>
  );
}

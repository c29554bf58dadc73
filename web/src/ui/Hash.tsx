import { CopyButton } from "./CopyButton";
import classes from "./Hash.module.css";
import { Untrusted } from "./Untrusted";

const LAST_CHARACTERS = 6;

interface HashProps {
  /** What it is, or what it is of. */
  what: string;
  text: string;
  /** Its middle is out of sight; all of it can still be selected, searched for and read out. */
  isCut?: boolean;
}

/** A hash or an address, to copy. */
export function Hash({ what, text, isCut = false }: HashProps) {
  const end = isCut ? text.length - LAST_CHARACTERS : 0;
  return (
    <span className={classes.hash}>
      <code className={isCut ? undefined : classes.whole} title={isCut ? text : undefined}>
        {isCut && (
          <span className={classes.start}>
            <Untrusted text={text.slice(0, end)} />
          </span>
        )}
        <Untrusted text={text.slice(end)} />
      </code>
      <CopyButton what={what} text={text} />
    </span>
  );
}

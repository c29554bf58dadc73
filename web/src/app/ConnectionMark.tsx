import classes from "./ConnectionMark.module.css";
import { useConnection } from "./live";

const WORDS = {
  connecting: { label: "Connecting", told: "Connecting to the server" },
  live: { label: "Live", told: "Live: what changes is shown at once" },
  lost: {
    label: "Offline",
    told: "The connection is lost. Trying again; what you see may be old.",
  },
};

/** Whether what is on the screen is kept up to date. */
export function ConnectionMark() {
  const connection = useConnection();
  const { label, told } = WORDS[connection];
  return (
    <span role="status" className={classes.mark} data-state={connection} title={told}>
      <span aria-hidden className={classes.dot} />
      <span className={classes.label}>{label}</span>
    </span>
  );
}

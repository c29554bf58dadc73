import { useAccess } from "./access";
import classes from "./ConnectionMark.module.css";
import { useConnection } from "./live";

const WORDS = {
  connecting: { label: "Connecting", description: "Connecting to the server" },
  live: { label: "Live", description: "Live: changes appear immediately" },
  lost: {
    label: "Offline",
    description: "Connection lost. Reconnecting; this page may be out of date.",
  },
};

/** Whether the page is receiving updates. */
export function ConnectionMark() {
  const { isOpen } = useAccess();
  const connection = useConnection();
  if (!isOpen) return null;
  const { label, description } = WORDS[connection];
  return (
    <span role="status" className={classes.mark} data-state={connection} title={description}>
      <span aria-hidden className={classes.dot} />
      <span className={classes.label}>{label}</span>
    </span>
  );
}

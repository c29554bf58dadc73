import { useQueryClient } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useEffect, useState } from "react";
import { eventsOf, type ServerEvent } from "../api/events";
import { keys } from "../api/keys";
import { asProblem } from "../api/problem";
import { useAccess } from "./access";
import { EventBatch, type Progress } from "./eventBatch";
import { useTeam } from "./team";

export type Connection = "connecting" | "live" | "lost";

interface Live {
  connection: Connection;
  /** The latest progress of each run. */
  progress: ReadonlyMap<string, Progress>;
}

const LiveContext = createContext<Live>({ connection: "connecting", progress: new Map() });

const FIRST_WAIT_MS = 1_000;
const LONGEST_WAIT_MS = 10_000;
/** The server sends a heartbeat every 15 seconds. */
const SILENCE_MS = 40_000;

export function useConnection(): Connection {
  return useContext(LiveContext).connection;
}

export function useProgress(runId: string): Progress | undefined {
  return useContext(LiveContext).progress.get(runId);
}

/**
 * Keeps one event stream open for the whole page and invalidates what has changed.
 * There is no polling; a hidden page closes the stream.
 */
export function LiveProvider({ children }: { children: ReactNode }) {
  const { team } = useTeam();
  const { isOpen } = useAccess();
  const queries = useQueryClient();
  const [connection, setConnection] = useState<Connection>("connecting");
  const [progress, setProgress] = useState<ReadonlyMap<string, Progress>>(new Map());

  useEffect(() => {
    if (!isOpen) return;
    const batch = new EventBatch((progresses, stale) => {
      if (progresses.size) setProgress((known) => new Map([...known, ...progresses]));
      for (const queryKey of stale) void queries.invalidateQueries({ queryKey });
    });
    const stop = keepListening(
      team,
      (event) => batch.add(team, event),
      (now) =>
        setConnection((before) => {
          // Events during the interruption are lost: fetch everything again.
          if (now === "live" && before === "lost") void queries.invalidateQueries();
          return now;
        }),
      // The token is no longer valid: the access check finds out and asks for another.
      () => void queries.invalidateQueries({ queryKey: keys.teams }),
    );
    return () => {
      stop();
      batch.stop();
    };
  }, [team, queries, isOpen]);

  return <LiveContext value={{ connection, progress }}>{children}</LiveContext>;
}

/** Listens until the returned function is called; reconnects after a failure. */
function keepListening(
  team: string,
  hear: (event: ServerEvent) => void,
  tell: (connection: Connection) => void,
  onRefused: () => void,
): () => void {
  const path = `/api/events?team_id=${encodeURIComponent(team)}`;
  let stopped = false;
  let current = new AbortController();
  let wake = () => {};
  let wait = FIRST_WAIT_MS;

  const listen = async () => {
    current = new AbortController();
    let silence: number | undefined;
    const sign = () => {
      window.clearTimeout(silence);
      silence = window.setTimeout(() => current.abort(), SILENCE_MS);
      wait = FIRST_WAIT_MS;
      tell("live");
    };
    try {
      for await (const event of eventsOf(path, current.signal, sign)) hear(event);
    } catch (thrown) {
      // Whatever the cause: wait, then reconnect.
      if (asProblem(thrown).status === 401) onRefused();
    } finally {
      window.clearTimeout(silence);
    }
  };

  const loop = async () => {
    while (!stopped) {
      if (!document.hidden) {
        await listen();
        if (stopped) return;
        if (!document.hidden) tell("lost");
      }
      await new Promise<void>((resolve) => {
        wake = resolve;
        if (!document.hidden) window.setTimeout(resolve, wait);
      });
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    }
  };

  const changed = () => {
    if (document.hidden) current.abort();
    else {
      wait = FIRST_WAIT_MS;
      wake();
    }
  };
  document.addEventListener("visibilitychange", changed);
  window.addEventListener("online", changed);
  void loop();
  return () => {
    stopped = true;
    current.abort();
    wake();
    document.removeEventListener("visibilitychange", changed);
    window.removeEventListener("online", changed);
  };
}

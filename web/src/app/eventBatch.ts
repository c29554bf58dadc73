import type { ServerEvent } from "../api/events";
import { keys } from "../api/keys";
import type { components } from "../api/schema";
import { type RunState, stateOf } from "../ui/runState";

export type Progress = components["schemas"]["Progress"];
type Key = readonly unknown[];

/** Events are batched for this long: a fast run has many results a second. */
const BATCH_MS = 250;

/** Batches events and reports what is new and which queries have become stale. */
export class EventBatch {
  private readonly states = new Map<string, RunState>();
  private progress = new Map<string, Progress>();
  private stale = new Map<string, Key>();
  private timer: number | undefined;

  constructor(
    private readonly onFlush: (progress: ReadonlyMap<string, Progress>, stale: Key[]) => void,
  ) {}

  add(team: string, event: ServerEvent): void {
    if (event.name === "progress") {
      const progress = event.data as Progress;
      this.progress.set(progress.run_id, progress);
      // Progress is passed on directly; lists are fetched again only when the state changes.
      const state = stateOf(progress);
      if (this.states.get(progress.run_id) !== state) this.markStale(keys.runs(team));
      this.states.set(progress.run_id, state);
      this.markStale(keys.run(team, progress.run_id));
    } else if (event.name === "change") {
      const { what } = event.data as components["schemas"]["Change"];
      if (what !== "catalog") this.markStale(keys[what](team));
      else for (const key of [keys.catalog, keys.agents, keys.suites(team)]) this.markStale(key);
    }
    this.timer ??= window.setTimeout(() => this.flush(), BATCH_MS);
  }

  stop(): void {
    window.clearTimeout(this.timer);
  }

  private markStale(key: Key): void {
    this.stale.set(JSON.stringify(key), key);
  }

  private flush(): void {
    const { progress, stale } = this;
    this.timer = undefined;
    this.progress = new Map();
    this.stale = new Map();
    this.onFlush(progress, [...stale.values()]);
  }
}

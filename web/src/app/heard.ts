import type { ServerEvent } from "../api/events";
import { keys } from "../api/keys";
import type { components } from "../api/schema";

export type Progress = components["schemas"]["Progress"];
type Key = readonly unknown[];

/** Events are batched for this long: a fast run has many results a second. */
const GATHER_MS = 250;

/** Batches events and reports what is new and which queries have become stale. */
export class Heard {
  private readonly statuses = new Map<string, string>();
  private progress = new Map<string, Progress>();
  private stale = new Map<string, Key>();
  private timer: number | undefined;

  constructor(
    private readonly tell: (progress: ReadonlyMap<string, Progress>, stale: Key[]) => void,
  ) {}

  take(team: string, event: ServerEvent): void {
    if (event.name === "progress") {
      const progress = event.data as Progress;
      this.progress.set(progress.run_id, progress);
      // Progress is passed on directly; lists are fetched again only when the status changes.
      if (this.statuses.get(progress.run_id) !== progress.status) this.isStale(keys.runs(team));
      this.statuses.set(progress.run_id, progress.status);
      this.isStale(keys.run(team, progress.run_id));
    } else if (event.name === "change") {
      const { what } = event.data as components["schemas"]["Change"];
      if (what !== "catalog") this.isStale(keys[what](team));
      else for (const key of [keys.catalog, keys.agents]) this.isStale(key);
    }
    this.timer ??= window.setTimeout(() => this.flush(), GATHER_MS);
  }

  stop(): void {
    window.clearTimeout(this.timer);
  }

  private isStale(key: Key): void {
    this.stale.set(JSON.stringify(key), key);
  }

  private flush(): void {
    const { progress, stale } = this;
    this.timer = undefined;
    this.progress = new Map();
    this.stale = new Map();
    this.tell(progress, [...stale.values()]);
  }
}

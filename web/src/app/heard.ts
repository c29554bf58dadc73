import type { ServerEvent } from "../api/events";
import { keys } from "../api/keys";
import type { components } from "../api/schema";

export type Progress = components["schemas"]["Progress"];
type Key = readonly unknown[];

/** News is gathered for so long, then told at once: a fast run has many results a second. */
const GATHER_MS = 250;

/** What the stream of events said: gathered, and told as what is new and what has become stale. */
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
      const told = event.data as Progress;
      this.progress.set(told.run_id, told);
      // How far it is, is told here; the lists are read again only when its state has changed.
      if (this.statuses.get(told.run_id) !== told.status) this.isStale(keys.runs(team));
      this.statuses.set(told.run_id, told.status);
      this.isStale(keys.run(team, told.run_id));
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

/* The summary of a trace: `GET /v1/traces/{trace}/summary`. */

export interface ThreadSummary {
  thread: string;
  events: number;
  first: number;
  last: number;
  parent: string | null;
}

export interface LockSummary {
  lock: string;
  kind: string;
  acquires: number;
  threads: number;
  handovers: number;
}

export interface VariableSummary {
  variable: string;
  reads: number;
  writes: number;
  threads: number;
  handovers: number;
}

export interface LocationSummary {
  location: string;
  function: string | null;
  events: number;
  threads: number;
}

export interface Timeline {
  events_per_column: number;
  columns: number;
  threads: string[];
  counts: number[][];
}

/** The lists have the hottest entries; `totals` counts all entries. */
export interface TraceSummary {
  events: number;
  kinds: Record<string, number>;
  threads: ThreadSummary[];
  locks: LockSummary[];
  variables: VariableSummary[];
  locations: LocationSummary[];
  timeline: Timeline;
  totals: Record<'threads' | 'locks' | 'variables' | 'locations', number>;
}

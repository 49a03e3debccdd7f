/* The interval analysis of a trace: `GET /v1/traces/{trace}/intervals`. */

export interface RangeOf {
  variable: string;
  range: string;
}

export interface EventRanges {
  event: number;
  thread: string;
  location: string | null;
  text: string;
  reads: RangeOf[];
  writes: RangeOf[];
  locals: RangeOf[];
  condition: string | null;
}

export interface GraphFigures {
  pairs: number;
  nodes: number;
  transactions: number;
  switches_before: number;
  switches: number;
  local_bits: number;
  global_bits: number;
  ms: number;
}

export interface GraphNode {
  node: string;
  thread: string;
  /** The event in front of which it lies; 0: the thread's end. */
  event: number;
}

/** `nodes` and `switches` are of the graph of feasible transactions. */
export interface Intervals {
  left_out: string | null;
  steps: number;
  graphs: Partial<Record<'plain' | 'transactions' | 'feasible', GraphFigures>>;
  nodes: GraphNode[];
  switches: [string, string][];
  events: EventRanges[];
  ms: number;
}

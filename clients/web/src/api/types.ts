/* The documents of docs/records.md and docs/api.md: the fields that the pages use. */

export type Check =
  | 'race'
  | 'atomicity'
  | 'assertion'
  | 'lock'
  | 'deadlock'
  | 'order'
  | 'property'
  | 'certificate'
  | 'context';
export type Verdict = 'violation' | 'safe' | 'bounded' | 'unknown' | 'error';
export type JobState = 'queued' | 'planning' | 'solving' | 'done' | 'failed' | 'cancelled';

export interface Progress {
  done: number;
  total: number;
  tasks?: number;
  open?: number;
}

export type Counts = { candidates: number; pending?: number } & Record<Verdict, number>;

/** How far an exploration is: parts of the search, and executions that differ. */
export interface Explored {
  subtrees: { done: number; open: number };
  rounds: number;
  classes: number;
  runs: number;
}

export interface Job {
  job: string;
  name: string | null;
  project?: string;
  state: JobState;
  trace: string;
  model: string;
  memory: string;
  bound: number | null;
  created: string;
  updated: string;
  finished: string | null;
  revision: number;
  progress: Progress;
  /** Of an exploration that is planned. */
  explored?: Explored;
  checks?: Record<string, Counts>;
  error: string | { detail?: string; message?: string } | null;
  spec?: Record<string, unknown>;
}

export interface JobPage {
  jobs: Job[];
  next: string | null;
}

/** A call: the function that makes it, and where. */
export interface Frame {
  function?: string | null;
  location?: string | null;
}

export interface Access {
  event: number;
  thread: string;
  access: string;
  object: string | null;
  location: string | null;
  function: string | null;
  text: string;
  /** `text` in the program's own words. */
  display?: string;
  /** The source line at `location`. */
  line?: string;
  /** null: not known. */
  locks: string[] | null;
  /** The lock that a waiter of a condition variable released and takes again when it wakes. */
  gave_up?: string;
  /** Those of the locks that are held for reading. */
  shared?: string[];
  /** The calls that led there, innermost first. */
  stack?: Frame[];
  /** The number of outer calls that the stack leaves out. */
  more_calls?: number;
  /** Where the thread was created, and by which thread. */
  created?: { thread: string; location?: string | null; function?: string; stack?: Frame[] };
}

/** One link of a causality cycle: it comes before the next one's event. */
export interface Cause {
  event: number;
  thread: string;
  location: string | null;
  text: string;
  display?: string;
  why: string;
  object: string | null;
}

export interface Reason {
  pass: string;
  text: string;
  passes?: Record<string, number>;
  cycle?: Cause[];
}

export interface FullStep {
  event: number;
  thread: string;
  kind: string;
  object: string | null;
  access: 'read' | 'write' | null;
  location: string | null;
  function: string | null;
  text: string;
  value: string | null;
  observed_value: string | null;
  /** `text` (without the value) and the two values in the program's own words. */
  display?: string;
  display_value?: string;
  display_observed?: string;
  source: number | null;
  departs: boolean;
}

/** All of a thread's events from `event` to `until`, without a break. */
export interface BriefStep {
  event: number;
  thread: string;
  until: number;
  steps: number;
}

export type Step = FullStep | BriefStep;

export interface Claim {
  kind: string;
  events: number[];
  variable?: string;
  pattern?: string;
  condition?: string;
  avoid?: string;
}

/** A value that an execution of a program reads. */
export interface InputValue {
  name: string;
  width: number;
  value: string;
  thread: string;
}

/** Of a trace, or of a program with what its execution reads. */
export interface Witness {
  trace?: string;
  program?: string;
  inputs?: InputValue[];
  model: string;
  claim: Claim;
  steps: Step[];
  final: Step[];
  members: number;
  switches: number;
  unreduced?: { members: number; switches: number };
}

/** A thread that waits at the end of a schedule in which another one waits forever. */
export interface Waiter {
  event: number;
  thread: string;
  location: string | null;
  function: string | null;
  text: string;
}

export interface VerdictRecord {
  also_waiting?: Waiter[];
  finding?: string;
  job?: string;
  check: Check;
  kind: string;
  name?: string;
  verdict: Verdict;
  status?: 'predicted' | 'observed' | 'explored' | 'possible';
  /** The observed run had it, and no transaction is annotated. */
  apart?: true;
  count: number;
  pairs: number;
  model: string;
  memory: string;
  bound: number | null;
  key: string;
  fingerprint?: string;
  object?: string | null;
  message?: string;
  accesses?: Access[];
  reason?: Reason;
  witness?: Witness | null;
  stats?: Record<string, number>;
  review?: Review;
  /** A command that drives the program through the witness. */
  replay?: string;
}

export type ReviewState = 'open' | 'confirmed' | 'false' | 'fixed';

/** The review of a finding in its project: schema/review.schema.json. */
export interface Review {
  project?: string;
  state: ReviewState;
  reason: string;
  first_seen: string;
  first_job: string;
  last_seen: string;
  last_job: string;
  jobs?: number;
}

export interface Note {
  code: string;
  event: number | null;
  count?: number;
  text: string;
}

export interface PropertyResult {
  property: number;
  name: string;
  kind: string;
  verdict: Verdict;
  reason?: Reason | null;
}

export interface Report {
  job: string;
  state: JobState;
  trace: string;
  model: string;
  checks: Record<string, Counts>;
  properties?: PropertyResult[];
  findings: VerdictRecord[];
  undecided?: VerdictRecord[];
  safe?: VerdictRecord[];
  notes?: Note[];
  revision: number;
  next: string | null;
}

export interface TraceMeta {
  trace: string;
  format: string;
  events: number;
  threads: number;
  variables: number;
  locks: number;
  bytes: number;
  stored_bytes: number;
  models: string[];
  default_model: string;
  broken: { event: number; text: string } | null;
  notes?: Note[];
  created?: string;
}

export interface TracePage {
  traces: TraceMeta[];
  next: string | null;
}

export interface WorkerInfo {
  worker: number;
  pid: number | null;
  role: string;
  state: string;
  kind: string | null;
  job: string | null;
  trace: string | null;
  memory?: number | null;
  tasks: number;
  restarts: number;
  progress?: string | null;
}

/** A process of a fleet; what it said of itself may be missing. */
export interface NodeInfo {
  node: number;
  name: string;
  pid: number;
  own: boolean;
  silent_ms: number;
  workers?: number;
  busy?: number;
  tasks?: number;
  version?: string;
}

export interface WorkerPage {
  workers: WorkerInfo[];
  nodes?: NodeInfo[];
}

/** Times in milliseconds since 1970; the history's columns have one length. */
export interface Stats {
  at: number;
  started: number;
  sample_ms: number;
  now: Record<string, number>;
  history: Record<string, number[]>;
}

/** Scopes and projects of the token; `open`: the server has no tokens. */
export interface Permissions {
  open: boolean;
  scopes: string[];
}

export interface Webhook {
  project: string;
  url: string | null;
  changed: string;
  /** Only in the response that created it. */
  secret?: string;
}

export interface Delivery {
  delivery: string | number;
  job: string;
  project: string;
  state: 'pending' | 'sending' | 'delivered' | 'failed';
  attempts: number;
  status: number | null;
  error: string | null;
  created: string;
  ended: string | null;
}

export type LimitName =
  'jobs' | 'workers' | 'bytes' | 'seconds' | 'memory_mb' | 'retain_days' | 'retain_bytes';

/** null: the default, which the server's options set. */
export type Limits = { project: string; used_ms: number } & Record<LimitName, number | null>;

export interface LimitPage {
  limits: Limits[];
  defaults: Record<LimitName, number>;
}

/* A witness as rows and lanes: the data that the swimlanes draw. */
import type { FullStep, Step, VerdictRecord, Witness } from '../api/types';

/** One line of a swimlane: a step, or a stretch of one thread's steps without details. */
export interface Row {
  lane: number;
  /** First and last event of the row; equal for a single step. */
  event: number;
  until: number;
  /** The number of steps in the row. */
  steps: number;
  /** The position of the row's first step in the schedule, counted from 1. */
  number: number;
  step: FullStep | null;
  /** The row is one of the claim's events. */
  claimed: boolean;
  /** The row comes after the last step: the violation itself. */
  final: boolean;
}

/** The rows during which a thread holds a lock; the ends may be outside the visible part. */
export interface Span {
  lane: number;
  lock: string;
  shared: boolean;
  from: number;
  to: number;
  depth: number;
}

/** A read and the write that it reads from. */
export interface Arrow {
  from: number;
  to: number;
  departs: boolean;
}

export interface Schedule {
  lanes: string[];
  rows: Row[];
  spans: Span[];
  arrows: Arrow[];
  /** The steps in all rows, without the violation's own events, which come after them. */
  total: number;
  switches: number;
}

function isFull(step: Step): step is FullStep {
  return 'kind' in step;
}

/** Threads in order of their first event. */
export function threadsOf(witness: Witness): string[] {
  const first = new Map<string, number>();
  for (const step of [...witness.steps, ...witness.final])
    first.set(step.thread, Math.min(step.event, first.get(step.thread) ?? Infinity));
  return [...first].sort((a, b) => a[1] - b[1]).map(([name]) => name);
}

function rowOf(step: Step, lane: number, claimed: Set<number>, final: boolean): Row {
  const full = isFull(step);
  return {
    lane,
    event: step.event,
    until: full ? step.event : step.until,
    steps: full ? 1 : step.steps,
    number: 0,
    step: full ? step : null,
    claimed: full && claimed.has(step.event),
    final,
  };
}

function rowsOf(witness: Witness, lanes: string[]): Row[] {
  const laneOf = new Map(lanes.map((name, i) => [name, i]));
  const claimed = new Set(witness.claim.events);
  const row = (final: boolean) => (step: Step) =>
    rowOf(step, laneOf.get(step.thread) ?? 0, claimed, final);
  return [...witness.steps.map(row(false)), ...witness.final.map(row(true))];
}

function number(rows: Row[]): Row[] {
  let next = 1;
  for (const row of rows) {
    row.number = next;
    next += row.steps;
  }
  return rows;
}

/** The rows of the predicted schedule, in its order. */
export function predictedRows(witness: Witness): Row[] {
  return number(rowsOf(witness, threadsOf(witness)));
}

/** The same events in the order of the observed run. */
export function observedRows(predicted: Row[]): Row[] {
  return number(
    predicted.map((row) => ({ ...row, final: false })).sort((a, b) => a.event - b.event),
  );
}

const FOLD_LEAST = 6;
const EDGE = 2;

/** Whether a row must stay when stretches are folded. */
function matters(row: Row): boolean {
  return row.claimed || row.final || !!row.step?.departs;
}

function foldRow(rows: Row[], from: number, to: number): Row {
  const first = rows[from]!;
  const steps = rows.slice(from, to).reduce((sum, row) => sum + row.steps, 0);
  const until = Math.max(...rows.slice(from, to).map((row) => row.until));
  return { ...first, until, steps, step: null };
}

function foldStretch(rows: Row[], from: number, to: number, out: Row[]): void {
  let at = from;
  while (at < to) {
    let end = at;
    const far = (i: number): boolean => i >= from + EDGE && i < to - EDGE && !matters(rows[i]!);
    while (end < to && far(end)) end++;
    if (end - at >= FOLD_LEAST) {
      out.push(foldRow(rows, at, end));
      at = end;
    } else {
      out.push(rows[at]!);
      at++;
    }
  }
}

/** Folds long stretches of one thread into a row each; rows of the violation and differences stay. */
export function foldRows(rows: Row[]): Row[] {
  const out: Row[] = [];
  for (let from = 0; from < rows.length;) {
    let to = from + 1;
    while (to < rows.length && rows[to]!.lane === rows[from]!.lane) to++;
    foldStretch(rows, from, to, out);
    from = to;
  }
  return out;
}

/** The row of each event; of a stretch, only its first and last event are certain to be in it. */
export function indexEvents(rows: Row[]): Map<number, number> {
  const index = new Map<number, number>();
  rows.forEach((row, i) => {
    index.set(row.event, i);
    index.set(row.until, i);
  });
  return index;
}

/** The row that has the event, or the nearest stretch of any thread that may have it. */
export function findEvent(rows: Row[], index: Map<number, number>, event: number): number {
  const exact = index.get(event);
  if (exact !== undefined) return exact;
  return rows.findIndex((row) => !row.step && row.event <= event && event <= row.until);
}

const ACQUIRES = new Set(['acquire', 'acquire-shared']);

interface Open {
  span: Span;
  nesting: number;
}

function takeLock(row: Row, i: number, lock: string, held: Map<string, Open>): Span | null {
  const open = held.get(lock);
  if (open) {
    open.nesting++;
    return null;
  }
  const shared = row.step?.kind === 'acquire-shared';
  const span = { lane: row.lane, lock, shared, from: i, to: -1, depth: held.size };
  held.set(lock, { span, nesting: 1 });
  return span;
}

function giveLock(i: number, lock: string, held: Map<string, Open>): void {
  const open = held.get(lock);
  if (!open || --open.nesting > 0) return;
  open.span.to = i;
  held.delete(lock);
}

function lockSpans(rows: Row[], lanes: number): Span[] {
  const held = Array.from({ length: lanes }, () => new Map<string, Open>());
  const spans: Span[] = [];
  rows.forEach((row, i) => {
    const step = row.step;
    // A claimed acquire after the last step is a request that is not granted.
    if (!step?.object || row.final) return;
    if (ACQUIRES.has(step.kind)) {
      const span = takeLock(row, i, step.object, held[row.lane]!);
      if (span) spans.push(span);
    } else if (step.kind === 'release') giveLock(i, step.object, held[row.lane]!);
  });
  for (const span of spans) if (span.to < 0) span.to = rows.length - 1;
  return spans;
}

function readsFrom(rows: Row[], observed: boolean): Arrow[] {
  const index = indexEvents(rows);
  const arrows: Arrow[] = [];
  rows.forEach((row, to) => {
    const step = row.step;
    // The source in the observed run is known only for reads that the schedule did not change.
    if (!step || step.source === null || (observed && step.departs)) return;
    const from = findEvent(rows, index, step.source);
    if (from >= 0 && from !== to) arrows.push({ from, to, departs: step.departs });
  });
  return arrows;
}

function countSwitches(rows: Row[]): number {
  let switches = 0;
  for (let i = 1; i < rows.length; i++) if (rows[i]!.lane !== rows[i - 1]!.lane) switches++;
  return switches;
}

export function buildSchedule(rows: Row[], lanes: string[], observed: boolean): Schedule {
  return {
    lanes,
    rows,
    spans: lockSpans(rows, lanes.length),
    arrows: readsFrom(rows, observed),
    total: rows.reduce((sum, row) => sum + (row.final ? 0 : row.steps), 0),
    switches: countSwitches(rows),
  };
}

/** The row that has the step of that number. */
export function rowOfNumber(rows: Row[], number: number): number {
  let low = 0;
  let high = rows.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (rows[middle]!.number <= number) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The next row, in direction 1 or -1, whose thread is not that of the row before it. */
export function nextSwitch(rows: Row[], from: number, direction: 1 | -1): number {
  for (let i = from + direction; i > 0 && i < rows.length; i += direction)
    if (rows[i]!.lane !== rows[i - 1]!.lane) return i;
  return direction > 0 ? rows.length - 1 : 0;
}

/** The first row of the violation: its last claimed event. */
export function violationRow(rows: Row[]): number {
  for (let i = rows.length - 1; i >= 0; i--) if (rows[i]!.claimed) return i;
  return rows.length - 1;
}

/** A row's text and value, as the command line prints them. */
export interface RowText {
  text: string;
  value: string;
  /** The term of the value, where there is room for it: " (x + 10)". */
  term?: string;
}

/** The value of a step in the predicted schedule or the observed run, as the program writes it. */
export function valueOf(step: FullStep, observed: boolean): string | null {
  return observed
    ? (step.display_observed ?? step.observed_value)
    : (step.display_value ?? step.value);
}

/** The position of the value in a text: behind the name in `read x (why)`; -1: none. */
function placeOfValue(step: FullStep, text: string): number {
  for (const word of ['read ', 'write ']) {
    const at = text.indexOf(word);
    if (at < 0 || step.object === null) continue;
    const behind = at + word.length;
    if (text.startsWith(step.object, behind)) return behind + step.object.length;
  }
  return -1;
}

export function rowText(row: Row, observed: boolean): RowText {
  const step = row.step;
  if (!step) return { text: `… ${row.steps} steps`, value: '' };
  const value = valueOf(step, observed);
  const text = step.display ?? step.text;
  const place = placeOfValue(step, text);
  const plain = step.kind === 'read' || step.kind === 'write';
  if (plain || (step.kind === 'assign' && place >= 0)) {
    if (value === null) return { text, value: '' };
    const stem = place < 0 ? text : text.slice(0, place);
    const rest = place < 0 || text.startsWith(' = ', place) ? '' : text.slice(place);
    return { text: stem, value: `= ${value}`, ...(rest && { term: rest }) };
  }
  const included = step.access === 'write' && text.endsWith(`:= ${value}`);
  const shown = value !== null && step.object !== null && !included;
  return { text, value: shown ? `${step.object} = ${value}` : '' };
}

/** The values and the locks held after the rows up to `at`. */
export interface Moment {
  values: [string, string][];
  locks: [string, string][];
}

export function momentAt(schedule: Schedule, at: number, observed: boolean): Moment {
  const values = new Map<string, string>();
  for (let i = 0; i <= at && i < schedule.rows.length; i++) {
    const step = schedule.rows[i]!.step;
    const value = step ? valueOf(step, observed) : null;
    if (!step?.object || !step.access || value === null) continue;
    values.delete(step.object);
    values.set(step.object, value);
  }
  const locks = schedule.spans
    .filter((span) => span.from <= at && at < span.to)
    .map((span): [string, string] => [span.lock, schedule.lanes[span.lane] ?? '?']);
  return { values: [...values].reverse(), locks };
}

/** How the observed run differed; null: only by events that the schedule leaves out. */
export function difference(predicted: Row[]): string | null {
  const index = indexEvents(predicted);
  for (const { step } of predicted) {
    if (!step?.departs || step.value === null || step.observed_value === null) continue;
    if (step.value === step.observed_value) continue;
    const source = step.source === null ? undefined : index.get(step.source);
    const wrote = source === undefined ? '' : `, which step ${predicted[source]!.number} wrote`;
    return (
      `In the observed run, ${step.thread} read ${step.object ?? 'a value'} = ${valueOf(step, true)} ` +
      `at ${step.location ?? `event ${step.event}`}; ` +
      `in this schedule it reads ${valueOf(step, false)}${wrote}.`
    );
  }
  return orderDifference(predicted);
}

function orderDifference(predicted: Row[]): string | null {
  for (let i = 0; i + 1 < predicted.length; i++) {
    const here = predicted[i]!.step;
    const next = predicted[i + 1]!.step;
    if (!here || !next || here.event < next.event) continue;
    return (
      `In the observed run, “${next.display ?? next.text}” by ${next.thread} ` +
      `(${next.location ?? `event ${next.event}`}) came before ` +
      `“${here.display ?? here.text}” by ${here.thread} (${here.location ?? `event ${here.event}`}).`
    );
  }
  return null;
}

const FINAL_LABELS: Record<string, string> = {
  race: 'race',
  assertion: 'fails',
  condition: 'fails',
  'co-enabled': 'next',
  'lock-error': 'error',
  deadlock: 'waits',
  stuck: 'waits',
};

export function finalLabel(claim: string): string {
  return FINAL_LABELS[claim] ?? 'then';
}

/** One line for a screen reader. */
export function describeRow(row: Row, lanes: string[], total: number, observed: boolean): string {
  const { text, value, term = '' } = rowText(row, observed);
  const step = row.step;
  return [
    row.final ? `After ${total} steps` : `Step ${row.number} of ${total}`,
    `thread ${lanes[row.lane] ?? '?'}`,
    step?.location ?? '',
    text,
    value + term,
    step?.departs ? `differs from the observed run: ${valueOf(step, true) ?? 'another write'}` : '',
    row.claimed ? 'part of the violation' : '',
  ]
    .filter(Boolean)
    .join(', ');
}

/** The locks that the thread of a row holds there. */
export function locksHeld(schedule: Schedule, at: number): string[] {
  const lane = schedule.rows[at]?.lane;
  return schedule.spans
    .filter((span) => span.lane === lane && span.from <= at && at <= span.to)
    .map((span) => span.lock);
}

export function hasSchedule(record: VerdictRecord): record is VerdictRecord & { witness: Witness } {
  return !!record.witness && record.witness.steps.length + record.witness.final.length > 0;
}

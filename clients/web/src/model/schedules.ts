/* The text of a schedule set (docs/schedules.md) as data: what the dashboard draws of it. Lines that
   it does not know are kept as they are: a later version of the format has more of them. */

export interface ScheduleNode {
  /** "0.1:2": the thread, and the number among its nodes. */
  name: string;
  thread: string;
  /** The operation and its objects, without the place. */
  text: string;
  /** "a.c:3", else "@function 2"; null: it has none. */
  place: string | null;
  /** Names of nodes of other threads that come before. */
  after: string[];
}

export interface ScheduleGraph {
  name: string;
  /** How it ends. */
  end: string;
  /** The next epoch, where the end is `epoch`. */
  next: string | null;
  /** The threads that are its threads 0, 1, ... */
  binds: string[];
  nodes: ScheduleNode[];
}

/** A leaf of the selector takes a schedule, or none. */
export type Choice = { term: string; yes: Choice; no: Choice } | { take: string | null };

export interface Epoch {
  name: string;
  /** Lines about where threads stand and what is known when it begins. */
  facts: string[];
  choice: Choice | null;
  schedules: ScheduleGraph[];
}

export interface ScheduleSet {
  inputs: string[];
  /** Places behind which a thread may stop, where an epoch ends. */
  markers: string[];
  epochs: Epoch[];
}

const NODE = /^(\S+):(\d+) (.*)$/;
const PLACE = / at (@\S+) (\d+)(?: "((?:[^"\\]|\\.)*)" (\d+)(?: \d+)?)?/;
const KNOWN = /^(stands|init|input|unknown|object|size|cell|sync|local|on|symbol|marker)\b/;

function nodeOf(line: string): ScheduleNode | null {
  const found = NODE.exec(line);
  if (!found) return null;
  const [, thread = '', number = '', rest = ''] = found;
  const behind = / after (.*)$/.exec(rest);
  const body = behind ? rest.slice(0, behind.index) : rest;
  const at = PLACE.exec(body);
  const place = at ? (at[3] !== undefined ? `${at[3]}:${at[4]}` : `${at[1]} ${at[2]}`) : null;
  return {
    name: `${thread}:${number}`,
    thread,
    text: at ? body.slice(0, at.index) : body,
    place,
    after: behind?.[1]?.split(' ') ?? [],
  };
}

/** The indented tree of `if`, `else`, `take` and `none`. */
function choiceOf(lines: string[], at: { line: number }): Choice | null {
  const text = lines[at.line]?.trim();
  if (text === undefined) return null;
  at.line++;
  if (text.startsWith('take ')) return { take: text.slice(5) };
  if (text === 'none') return { take: null };
  const yes = choiceOf(lines, at);
  at.line++; // else
  const no = choiceOf(lines, at);
  return yes && no ? { term: text.slice(3), yes, no } : null;
}

const CHOICE = /^\s*(if |else$|take |none$)/;

export function readSet(text: string): ScheduleSet {
  const set: ScheduleSet = { inputs: [], markers: [], epochs: [] };
  let choices: string[] = [];
  let epoch: Epoch | null = null;
  let schedule: ScheduleGraph | null = null;
  const close = (): void => {
    if (epoch && !epoch.choice && choices.length) epoch.choice = choiceOf(choices, { line: 0 });
    choices = [];
  };
  for (const raw of text.split('\n')) {
    const line = raw.trimStart().startsWith(';') ? '' : raw;
    const word = line.trim();
    const [first = '', second = '', third = '', fourth] = word.split(' ');
    if (!word) continue;
    if (first === 'epoch') {
      close();
      epoch = { name: second, facts: [], choice: null, schedules: [] };
      set.epochs.push(epoch);
      schedule = null;
    } else if (first === 'schedule' && epoch) {
      close();
      schedule = { name: second, end: third, next: fourth ?? null, binds: [], nodes: [] };
      epoch.schedules.push(schedule);
    } else if (schedule) {
      const node = nodeOf(word);
      if (node) schedule.nodes.push(node);
      else if (first === 'next') schedule.binds = word.split(' ').slice(1);
    } else if (CHOICE.test(line) && epoch) {
      choices.push(line);
    } else if (epoch && KNOWN.test(word)) {
      epoch.facts.push(word);
    } else if (first === 'input') {
      set.inputs.push(word);
    } else if (first === 'marker') {
      set.markers.push(word.slice(7));
    }
  }
  close();
  return set;
}

/** Threads of a schedule in the order of their first node: its lanes. */
export function lanesOf(schedule: ScheduleGraph): string[] {
  return [...new Set(schedule.nodes.map((node) => node.thread))];
}

/** Edges between nodes of different threads, by row. */
export function edgesOf(schedule: ScheduleGraph): [number, number][] {
  const rows = new Map(schedule.nodes.map((node, row) => [node.name, row]));
  return schedule.nodes.flatMap((node, row) =>
    node.after.flatMap((name): [number, number][] => {
      const from = rows.get(name);
      return from === undefined ? [] : [[from, row]];
    }),
  );
}

/* A report for the pages: findings in groups, counts of the passes that refuted candidates. */
import type { Access, Report, VerdictRecord } from '../api/types';

export interface Group {
  /** The function, else file, else object that its findings share. */
  place: string;
  records: VerdictRecord[];
}

function placeOf(record: VerdictRecord): string {
  const accesses = record.accesses ?? [];
  const names = accesses.map((access) => access.function ?? fileOf(access.location));
  const known = [...new Set(names.filter((name): name is string => !!name))].sort();
  return known.join(' and ') || record.object || 'elsewhere';
}

function fileOf(location: string | null): string | null {
  return location ? location.replace(/(:\d+)+$/, '') : null;
}

/** Groups by place, largest first; the order inside a group is the server's. */
export function groupRecords(records: VerdictRecord[]): Group[] {
  const groups = new Map<string, VerdictRecord[]>();
  for (const record of records) {
    const place = placeOf(record);
    const group = groups.get(place);
    if (group) group.push(record);
    else groups.set(place, [record]);
  }
  return [...groups]
    .map(([place, members]) => ({ place, records: members }))
    .sort((a, b) => b.records.length - a.records.length);
}

export interface PassCount {
  pass: string;
  /** Event pairs (triplets, events) that it decided. */
  pairs: number;
  /** Candidates with at least one such pair. */
  candidates: number;
}

/** How much each pass refuted, over the safe records that are loaded. */
export function passCounts(safe: VerdictRecord[]): PassCount[] {
  const passes = new Map<string, PassCount>();
  for (const record of safe) {
    const reason = record.reason;
    const decided = reason?.passes ?? { [reason?.pass ?? 'unsat']: record.pairs };
    for (const [pass, pairs] of Object.entries(decided)) {
      const sum = passes.get(pass) ?? { pass, pairs: 0, candidates: 0 };
      sum.pairs += pairs;
      sum.candidates += record.count;
      passes.set(pass, sum);
    }
  }
  return [...passes.values()].sort((a, b) => b.pairs - a.pairs);
}

const PASS_TEXTS: Record<string, string> = {
  lockset: 'both accesses hold the same lock',
  'atomic-section': 'one critical section contains the triplet and excludes the remote access',
  'must-happen-before': 'fork, join or another hard edge orders one before the other',
  closure: 'every prefix that contains one access contains the other',
  causality: 'the order that it needs closes a cycle of causality',
  constant: 'the condition has the same value in every schedule',
  standstill: 'in every state where all other threads wait, the thread can continue',
  exclusion: 'semaphore counts, or values read under a lock, exclude it',
  interval: 'the ranges of the values that the condition reads make it true',
  unsat: 'the solver proved that no schedule reaches it',
  mixed: 'several passes, each for some of the event pairs',
};

export function passText(pass: string): string {
  return PASS_TEXTS[pass] ?? '';
}

export interface RecordFilter {
  check: string;
  text: string;
  review: string;
}

function accessText(access: Access): string {
  return `${access.thread} ${access.location ?? ''} ${access.function ?? ''} ${access.display ?? access.text}`;
}

export function matchesRecord(record: VerdictRecord, filter: RecordFilter): boolean {
  if (filter.check && record.check !== filter.check) return false;
  if (filter.review && (record.review?.state ?? 'open') !== filter.review) return false;
  const where = (record.accesses ?? []).map(accessText).join(' ');
  const text = `${record.message ?? ''} ${record.object ?? ''} ${record.kind} ${where}`;
  return text.toLowerCase().includes(filter.text.toLowerCase());
}

/** Joins the pages of one report. */
export function joinReports(pages: Report[]): Report | null {
  const first = pages[0];
  if (!first) return null;
  const all = (pick: (page: Report) => VerdictRecord[] | undefined): VerdictRecord[] =>
    pages.flatMap((page) => pick(page) ?? []);
  return {
    ...first,
    findings: all((page) => page.findings),
    undecided: all((page) => page.undecided),
    safe: all((page) => page.safe),
    next: pages[pages.length - 1]!.next,
  };
}

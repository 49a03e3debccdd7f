import { describe, expect, it } from 'vitest';
import type { Cause, Report, Stats, VerdictRecord } from '../src/api/types';
import { createEventParser } from '../src/api/events';
import { formatRoute, parseRoute } from '../src/lib/router';
import { ago, bytes, duration, jobOfFinding, plural } from '../src/lib/format';
import { groupRecords, joinReports, matchesRecord, passCounts } from '../src/model/report';
import { layCycle } from '../src/model/cycle';
import { columnsOf } from '../src/model/stats';

describe('server-sent events', () => {
  it('are whole however the stream is cut', () => {
    const text =
      ': hello\nid: 7\nevent: job\ndata: {"a":\ndata: 1}\n\ndata: x\r\n\r\nevent: none\n\n';
    for (const size of [1, 2, 3, 7, text.length]) {
      const parse = createEventParser();
      const events = [];
      for (let at = 0; at < text.length; at += size)
        events.push(...parse(text.slice(at, at + size)));
      expect(events).toEqual([
        { event: 'job', data: '{"a":\n1}', id: '7' },
        { event: 'message', data: 'x', id: '7' },
      ]);
    }
  });
});

describe('addresses', () => {
  it('go both ways', () => {
    const hash = formatRoute(['findings', 'a/b-1'], { step: '13', q: undefined });
    expect(hash).toBe('#/findings/a%2Fb-1?step=13');
    expect(parseRoute(hash)).toEqual({ path: ['findings', 'a/b-1'], query: { step: '13' } });
    expect(parseRoute('')).toEqual({ path: [], query: {} });
    expect(parseRoute('#/a%zz')).toEqual({ path: ['a%zz'], query: {} });
  });
});

describe('words', () => {
  it('are those people use', () => {
    expect(bytes(0)).toBe('0 B');
    expect(bytes(1536)).toBe('1.5 KiB');
    expect(bytes(300 * 1024 * 1024)).toBe('300 MiB');
    expect(duration(4.44)).toBe('4.4 ms');
    expect(duration(0.01)).toBe('< 0.1 ms');
    expect(duration(61_000)).toBe('1 min 1 s');
    expect(plural(1, 'switch', 'switches')).toBe('1 switch');
    expect(plural(2000, 'step')).toBe('2,000 steps');
    const now = Date.parse('2026-01-02T00:00:00Z');
    expect(ago('2026-01-01T22:00:00Z', now)).toBe('2 h ago');
    expect(ago('2026-01-02T00:00:00Z', now)).toBe('now');
    expect(jobOfFinding('61f3ab-12')).toBe('61f3ab');
  });
});

function record(more: Partial<VerdictRecord>): VerdictRecord {
  return {
    check: 'race',
    kind: 'write-write',
    verdict: 'safe',
    count: 1,
    pairs: 1,
    model: 'ctp',
    memory: 'sc',
    bound: null,
    key: 'k',
    ...more,
  };
}

function at(location: string, name: string | null): NonNullable<VerdictRecord['accesses']>[number] {
  return {
    event: 1,
    thread: 'T1',
    access: 'write',
    object: 'x',
    location,
    function: name,
    text: 'x := 1',
    locks: [],
  };
}

describe('reports', () => {
  it('group findings by function, else by file', () => {
    const one = record({ accesses: [at('a.c:3', 'f'), at('a.c:9', 'g')] });
    const two = record({ accesses: [at('a.c:9', 'g'), at('a.c:4', 'f')] });
    const three = record({ accesses: [at('b.c:1:7', null)] });
    const groups = groupRecords([three, one, two]);
    expect(groups.map(({ place, records }) => [place, records.length])).toEqual([
      ['f and g', 2],
      ['b.c', 1],
    ]);
  });

  it('count what each pass refuted', () => {
    const mixed = { pass: 'mixed', text: '', passes: { lockset: 2, unsat: 1 } };
    const safe = [
      record({ pairs: 3, reason: mixed }),
      record({ pairs: 5, count: 4, reason: { pass: 'lockset', text: '' } }),
    ];
    expect(passCounts(safe)).toEqual([
      { pass: 'lockset', pairs: 7, candidates: 5 },
      { pass: 'unsat', pairs: 1, candidates: 1 },
    ]);
  });

  it('filter by check, review and text', () => {
    const one = record({ message: 'write of X', accesses: [at('a.c:3', 'f')] });
    const all = { check: '', text: '', review: '' };
    expect(matchesRecord(one, all)).toBe(true);
    expect(matchesRecord(one, { ...all, text: 'A.C:3' })).toBe(true);
    expect(matchesRecord(one, { ...all, text: 'b.c' })).toBe(false);
    expect(matchesRecord(one, { ...all, check: 'lock' })).toBe(false);
    expect(matchesRecord(one, { ...all, review: 'open' })).toBe(true);
    expect(matchesRecord(one, { ...all, review: 'false' })).toBe(false);
  });

  it('of several pages are one', () => {
    const page = (key: string, next: string | null) =>
      ({ findings: [record({ key })], next }) as unknown as Report;
    const whole = joinReports([page('a', '1'), page('b', null)]);
    expect(whole?.findings.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(whole?.next).toBeNull();
    expect(joinReports([])).toBeNull();
  });
});

describe('a cycle', () => {
  const cause = (event: number, thread: string, why: string): Cause => ({
    event,
    thread,
    location: null,
    text: `e${event}`,
    why,
    object: null,
  });

  it('has one edge that goes against the observed order', () => {
    const causes = [
      cause(9, 'T2', 'claim'),
      cause(2, 'T1', 'program order'),
      cause(5, 'T1', 'lock'),
    ];
    const drawing = layCycle(causes);
    expect(drawing.lanes.map(({ name }) => name)).toEqual(['T1', 'T2']);
    expect(drawing.nodes).toHaveLength(3);
    expect(drawing.edges.map(({ label, closing }) => [label, closing])).toEqual([
      ['claim', true],
      ['program order', false],
      ['lock', false],
    ]);
  });

  it('draws an event once', () => {
    const drawing = layCycle([
      cause(1, 'T1', 'lock'),
      cause(2, 'T2', 'claim'),
      cause(2, 'T2', 'claim'),
    ]);
    expect(drawing.nodes).toHaveLength(2);
    expect(drawing.edges).toHaveLength(2);
  });
});

describe('the history', () => {
  const stats = {
    at: 0,
    started: 0,
    sample_ms: 1000,
    now: {},
    history: { at: [1000, 2000, 4000], tasks: [5, 10, 10] },
  } satisfies Stats;

  it('is columns, counted ones by the second', () => {
    expect(columnsOf(stats, ['tasks', 'none'])).toEqual([
      [1, 2, 4],
      [5, 10, 10],
      [null, null, null],
    ]);
    expect(columnsOf(stats, ['tasks'], (value, seconds) => value / seconds)[1]).toEqual([5, 10, 5]);
  });
});

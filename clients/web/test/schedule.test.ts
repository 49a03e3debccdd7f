import { describe, expect, it } from 'vitest';
import type { FullStep, Step, Witness } from '../src/api/types';
import {
  buildSchedule,
  describeRow,
  difference,
  findEvent,
  foldRows,
  indexEvents,
  momentAt,
  nextSwitch,
  observedRows,
  predictedRows,
  rowOfNumber,
  rowText,
  threadsOf,
  violationRow,
} from '../src/model/schedule';

function step(event: number, thread: string, text: string, more: Partial<FullStep> = {}): FullStep {
  return {
    event,
    thread,
    kind: 'assign',
    object: null,
    access: null,
    location: null,
    function: null,
    text,
    value: null,
    observed_value: null,
    source: null,
    departs: false,
    ...more,
  };
}

function witness(steps: Step[], final: Step[] = [], events: number[] = []): Witness {
  const claim = { kind: 'race', events };
  return {
    trace: '',
    model: 'ctp',
    claim,
    steps,
    final,
    members: steps.length,
    switches: 0,
  };
}

/** T2 reads x before T1's second write of it, which the run did after that write. */
const EARLY = witness(
  [
    step(1, 'T1', 'x := 1', { object: 'x', access: 'write', value: '1', observed_value: '1' }),
    step(2, 'T1', 'acquire l', { kind: 'acquire', object: 'l' }),
    step(5, 'T2', 'a := x', {
      object: 'x',
      access: 'read',
      value: '1',
      observed_value: '2',
      source: 1,
      departs: true,
    }),
    step(3, 'T1', 'x := 2', { object: 'x', access: 'write', value: '2', observed_value: '2' }),
    step(4, 'T1', 'release l', { kind: 'release', object: 'l' }),
  ],
  [step(6, 'T2', 'assert (= a 2)')],
  [6],
);

describe('rows', () => {
  it('are lanes in order of first events, numbered in schedule order', () => {
    expect(threadsOf(EARLY)).toEqual(['T1', 'T2']);
    const rows = predictedRows(EARLY);
    expect(rows.map((row) => row.lane)).toEqual([0, 0, 1, 0, 0, 1]);
    expect(rows.map((row) => row.number)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(rows.map((row) => row.final)).toEqual([false, false, false, false, false, true]);
    expect(violationRow(rows)).toBe(5);
  });

  it('of the observed run are the same events by their place in the trace', () => {
    const rows = observedRows(predictedRows(EARLY));
    expect(rows.map((row) => row.event)).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('count the steps of a stretch', () => {
    const brief = { event: 1, thread: 'T1', until: 90, steps: 41 };
    const rows = predictedRows(witness([brief, step(91, 'T2', 'y := 1')]));
    expect(rows.map((row) => row.number)).toEqual([1, 42]);
    expect(rowOfNumber(rows, 30)).toBe(0);
    expect(rowOfNumber(rows, 42)).toBe(1);
    const index = indexEvents(rows);
    expect(findEvent(rows, index, 50)).toBe(0);
    expect(findEvent(rows, index, 91)).toBe(1);
    expect(findEvent(rows, index, 95)).toBe(-1);
    expect(buildSchedule(rows, ['T1', 'T2'], false).total).toBe(42);
  });

  it('lead from switch to switch', () => {
    const rows = predictedRows(EARLY);
    expect(nextSwitch(rows, 0, 1)).toBe(2);
    expect(nextSwitch(rows, 2, 1)).toBe(3);
    expect(nextSwitch(rows, 5, 1)).toBe(5);
    expect(nextSwitch(rows, 3, -1)).toBe(2);
    expect(nextSwitch(rows, 1, -1)).toBe(0);
  });
});

describe('a schedule', () => {
  const predicted = buildSchedule(predictedRows(EARLY), ['T1', 'T2'], false);

  it('has lock spans and reads-from arrows', () => {
    const span = { lane: 0, lock: 'l', shared: false, from: 1, to: 4, depth: 0 };
    expect(predicted.spans).toEqual([span]);
    expect(predicted.arrows).toEqual([{ from: 0, to: 2, departs: true }]);
    expect(predicted.switches).toBe(3);
    expect(predicted.total).toBe(5);
  });

  it('knows no source of a read of the observed run that the schedule changed', () => {
    const observed = buildSchedule(observedRows(predicted.rows), ['T1', 'T2'], true);
    expect(observed.arrows).toEqual([]);
  });

  it('knows values and holders at each row, the last written first', () => {
    expect(momentAt(predicted, 2, false)).toEqual({ values: [['x', '1']], locks: [['l', 'T1']] });
    expect(momentAt(predicted, 4, false)).toEqual({ values: [['x', '2']], locks: [] });
  });

  it('keeps a lock that is taken again until the last release', () => {
    const lock = (event: number, kind: string) =>
      step(event, 'T1', `${kind} l`, { kind, object: 'l' });
    const nested = witness([
      lock(1, 'acquire'),
      lock(2, 'acquire'),
      lock(3, 'release'),
      step(4, 'T1', 'x := 1'),
      lock(5, 'release'),
    ]);
    const { spans } = buildSchedule(predictedRows(nested), ['T1'], false);
    expect(spans.map(({ from, to }) => [from, to])).toEqual([[0, 4]]);
  });

  it('does not grant a lock that the violation waits for', () => {
    const waits = step(2, 'T1', 'acquire l', { kind: 'acquire', object: 'l' });
    const rows = predictedRows(witness([step(1, 'T1', 'begin')], [waits], [2]));
    expect(buildSchedule(rows, ['T1'], false).spans).toEqual([]);
  });

  it('says how the run differed', () => {
    expect(difference(predicted.rows)).toBe(
      'In the observed run, T2 read x = 2 at event 5; in this schedule it reads 1, which step 1 wrote.',
    );
    const swapped = witness([step(2, 'T2', 'y := 1'), step(1, 'T1', 'x := 1')]);
    expect(difference(predictedRows(swapped))).toBe(
      'In the observed run, “x := 1” by T1 (event 1) came before “y := 1” by T2 (event 2).',
    );
    const same = witness([step(1, 'T1', 'x := 1'), step(2, 'T2', 'y := 1')]);
    expect(difference(predictedRows(same))).toBeNull();
  });
});

describe('folding', () => {
  const long = Array.from({ length: 20 }, (_, i) => step(i + 1, 'T1', `s${i}`));

  it('leaves the edges of a stretch and what matters', () => {
    const rows = predictedRows(witness([...long, step(21, 'T2', 'y := 1')], [], [10]));
    const folded = foldRows(rows);
    const texts = folded.map((row) => row.step?.text ?? `${row.steps} steps`);
    expect(texts).toEqual(['s0', 's1', '7 steps', 's9', '8 steps', 's18', 's19', 'y := 1']);
    expect(folded.reduce((sum, row) => sum + row.steps, 0)).toBe(21);
    expect(folded[2]).toMatchObject({ event: 3, until: 9, number: 3 });
  });

  it('leaves short stretches as they are', () => {
    const rows = predictedRows(witness(long.slice(0, 9)));
    expect(foldRows(rows)).toEqual(rows);
  });
});

describe('texts', () => {
  const [first, , read] = predictedRows(EARLY);

  it('have the value of the schedule or of the run', () => {
    expect(rowText(read!, false)).toEqual({ text: 'a := x', value: 'x = 1' });
    expect(rowText(read!, true)).toEqual({ text: 'a := x', value: 'x = 2' });
    const plain = step(1, 'T1', 'write x = 5', { kind: 'write', object: 'x', value: '7' });
    expect(rowText(predictedRows(witness([plain]))[0]!, false)).toEqual({
      text: 'write x',
      value: '= 7',
    });
  });

  it('are those for people, with the value behind the name', () => {
    const shown = (more: Partial<FullStep>): string => {
      const one = step(1, 'T1', '(bvadd r1 #x0a)', { object: 'a[1].sum', value: '#x6e', ...more });
      const { text, value, term = '' } = rowText(predictedRows(witness([one]))[0]!, false);
      return `${text} ${value}${term}`.trim();
    };
    const number = { display_value: '110' };
    expect(shown({ ...number, display: 'read a[1].sum' })).toBe('read a[1].sum = 110');
    expect(shown({ ...number, display: 'write a[1].sum (a[1].sum + 10)' })).toBe(
      'write a[1].sum = 110 (a[1].sum + 10)',
    );
    expect(shown({ display: 'x := a[1].sum + 1' })).toBe('x := a[1].sum + 1 a[1].sum = #x6e');
    expect(shown({ value: null, display: 'assert(s == 300)' })).toBe('assert(s == 300)');
  });

  it('tell a screen reader what the eye sees', () => {
    expect(describeRow(first!, ['T1', 'T2'], 5, false)).toBe('Step 1 of 5, thread T1, x := 1');
    expect(describeRow(read!, ['T1', 'T2'], 5, false)).toContain(
      'differs from the observed run: 2',
    );
  });
});

/* The predicted schedule beside the observed run, with the values and locks at the selected step. */
import type { JSX } from 'preact';
import { useLayoutEffect, useMemo, useState } from 'preact/hooks';
import type { Witness } from '../api/types';
import type { Row, Schedule } from '../model/schedule';
import {
  buildSchedule,
  difference,
  finalLabel,
  findEvent,
  foldRows,
  indexEvents,
  locksHeld,
  momentAt,
  nextSwitch,
  observedRows,
  predictedRows,
  rowOfNumber,
  rowText,
  valueOf,
  threadsOf,
  violationRow,
} from '../model/schedule';
import { replaceQuery } from '../lib/router';
import { count, plural } from '../lib/format';
import { CopyButton } from '../parts/CopyButton';
import { Pane } from './Pane';
import { ROW_HEIGHT } from './view';

export interface SwimlanesProps {
  witness: Witness;
  /** The number of the step to select first, from the address. */
  step: number | null;
}

interface Model {
  all: Row[];
  predicted: Schedule;
  observed: Schedule;
  eventsOfObserved: Map<number, number>;
  eventsOfPredicted: Map<number, number>;
}

/** Below any real height: the panes clamp it to the height at which all steps fit. */
const FIT = 0;
const ZOOM = 1.3;
const FOLD_FROM = 60;

function buildModel(witness: Witness, folded: boolean): Model {
  const lanes = threadsOf(witness);
  const all = predictedRows(witness);
  const fold = (rows: Row[]): Row[] => (folded ? foldRows(rows) : rows);
  const predicted = buildSchedule(fold(all), lanes, false);
  const observed = buildSchedule(fold(observedRows(all)), lanes, true);
  return {
    all,
    predicted,
    observed,
    eventsOfPredicted: indexEvents(predicted.rows),
    eventsOfObserved: indexEvents(observed.rows),
  };
}

type Move = (rows: Row[], at: number) => number;

const last = (rows: Row[]): number => rows.length - 1;
const clamp = (rows: Row[], at: number): number => Math.min(Math.max(at, 0), last(rows));

/** Keys that move the selection. */
const MOVES: Record<string, Move> = {
  ArrowDown: (rows, at) => clamp(rows, at + 1),
  ArrowUp: (rows, at) => clamp(rows, at - 1),
  j: (rows, at) => clamp(rows, at + 1),
  k: (rows, at) => clamp(rows, at - 1),
  PageDown: (rows, at) => clamp(rows, at + 20),
  PageUp: (rows, at) => clamp(rows, at - 20),
  Home: () => 0,
  End: (rows) => last(rows),
  n: (rows, at) => nextSwitch(rows, at, 1),
  p: (rows, at) => nextSwitch(rows, at, -1),
  v: (rows) => violationRow(rows),
};

export function Swimlanes({ witness, step }: SwimlanesProps): JSX.Element {
  const [folded, setFolded] = useState(
    () => witness.steps.length > FOLD_FROM && witness.steps.length < 5000,
  );
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const [allArrows, setAllArrows] = useState(true);
  const [rowHeight, setRowHeight] = useState(ROW_HEIGHT);
  const [side, setSide] = useState<'predicted' | 'observed'>('predicted');
  const model = useMemo(() => buildModel(witness, folded), [witness, folded]);
  const [event, setEvent] = useState(() => firstEvent(model.all, step));

  // Follows an address that changes while the page is open. A layout effect: a later one would undo
  // a key press with the address of the previous step.
  useLayoutEffect(() => {
    if (step !== null) setEvent(firstEvent(model.all, step));
  }, [step]);

  // The execution of a program stands beside no other one.
  const explored = witness.program !== undefined;
  const at = rowFor(model.predicted, model.eventsOfPredicted, event);
  const observedAt = rowFor(model.observed, model.eventsOfObserved, event);

  function select(rows: Row[], index: number): void {
    const row = rows[clamp(rows, index)];
    if (!row) return;
    setEvent(row.event);
    const target =
      model.predicted.rows[rowFor(model.predicted, model.eventsOfPredicted, row.event)];
    replaceQuery({ step: String(target?.number ?? 1) });
  }

  function toggleLane(lane: number): void {
    const next = new Set(closed);
    if (!next.delete(lane)) next.add(lane);
    setClosed(next);
  }

  const actions: Record<string, () => void> = {
    '+': () => setRowHeight((height) => height * ZOOM),
    '=': () => setRowHeight((height) => height * ZOOM),
    '-': () => setRowHeight((height) => height / ZOOM),
    '0': () => setRowHeight(FIT),
    '1': () => setRowHeight(ROW_HEIGHT),
    f: () => setFolded((value) => !value),
    r: () => setAllArrows((value) => !value),
    c: () => toggleLane(model.predicted.rows[at]?.lane ?? 0),
  };

  const onKey =
    (rows: Row[], index: number) =>
    (pressed: KeyboardEvent): boolean => {
      if (pressed.ctrlKey || pressed.metaKey || pressed.altKey) return false;
      const move = MOVES[pressed.key];
      const action = actions[pressed.key];
      if (move) select(rows, move(rows, index));
      else if (action) action();
      return !!move || !!action;
    };

  const shared = {
    rowHeight,
    onRowHeight: setRowHeight,
    closed,
    onToggleLane: toggleLane,
    allArrows,
    finalLabel: finalLabel(witness.claim.kind),
  };

  return (
    <div class={`swimlanes show-${side}`}>
      {!explored && <Differs all={model.all} />}
      <Toolbar
        witness={witness}
        folded={folded}
        allArrows={allArrows}
        side={side}
        onSide={setSide}
        act={(key) => actions[key]?.()}
        go={(key) => {
          const move = MOVES[key];
          if (move) select(model.predicted.rows, move(model.predicted.rows, at));
        }}
      />
      <StepDetail schedule={model.predicted} at={at} />
      <div class={explored ? 'panes one' : 'panes'}>
        <Pane
          {...shared}
          id="predicted"
          title={explored ? 'Schedule' : 'Predicted schedule'}
          schedule={model.predicted}
          observed={false}
          selected={at}
          onSelect={(row) => select(model.predicted.rows, row)}
          onKey={onKey(model.predicted.rows, at)}
        />
        {!explored && (
          <Pane
            {...shared}
            id="observed"
            title="Observed run"
            schedule={model.observed}
            observed={true}
            selected={observedAt}
            onSelect={(row) => select(model.observed.rows, row)}
            onKey={onKey(model.observed.rows, observedAt)}
          />
        )}
      </div>
    </div>
  );
}

function firstEvent(rows: Row[], number: number | null): number {
  const index = number === null ? violationRow(rows) : rowOfNumber(rows, number);
  return rows[index]?.event ?? 1;
}

/** The row of an event after folding: its own, or the folded stretch that contains it. */
function rowFor(schedule: Schedule, index: Map<number, number>, event: number): number {
  return Math.max(0, findEvent(schedule.rows, index, event));
}

function Differs({ all }: { all: Row[] }): JSX.Element {
  const text = useMemo(() => difference(all), [all]);
  return (
    <p class="note">
      {text ??
        'The steps are in observed order; events of the run between them that the violation does not need are left out.'}
    </p>
  );
}

interface ToolbarProps {
  witness: Witness;
  folded: boolean;
  allArrows: boolean;
  side: 'predicted' | 'observed';
  onSide: (side: 'predicted' | 'observed') => void;
  act: (key: string) => void;
  go: (key: string) => void;
}

interface Tool {
  key: string;
  label: string;
  title: string;
}

const STEPS: Tool[] = [
  { key: 'Home', label: '⇤', title: 'First step (Home)' },
  { key: 'p', label: '«', title: 'Previous context switch (p)' },
  { key: 'ArrowUp', label: '‹', title: 'Previous step (Up or k)' },
  { key: 'ArrowDown', label: '›', title: 'Next step (Down or j)' },
  { key: 'n', label: '»', title: 'Next context switch (n)' },
  { key: 'v', label: 'Violation', title: 'Violation (v)' },
];

const ZOOMS: Tool[] = [
  { key: '-', label: '−', title: 'Zoom out (-)' },
  { key: '+', label: '+', title: 'Zoom in (+)' },
  { key: '0', label: 'Fit', title: 'Fit all steps (0)' },
];

function Toolbar(props: ToolbarProps): JSX.Element {
  const { witness } = props;
  const button = (tool: Tool, press: (key: string) => void): JSX.Element => (
    <button
      key={tool.key}
      type="button"
      title={tool.title}
      aria-label={tool.title}
      onClick={() => press(tool.key)}
    >
      {tool.label}
    </button>
  );
  return (
    <div class="toolbar" role="toolbar" aria-label="Schedule">
      <span class="group">{STEPS.map((tool) => button(tool, props.go))}</span>
      <span class="group">{ZOOMS.map((tool) => button(tool, props.act))}</span>
      <span class="group">
        <button
          type="button"
          aria-pressed={props.folded}
          title="Fold long stretches of one thread (f)"
          onClick={() => props.act('f')}
        >
          Fold
        </button>
        <button
          type="button"
          aria-pressed={props.allArrows}
          title="Show all reads-from arrows (r)"
          onClick={() => props.act('r')}
        >
          Reads-from
        </button>
      </span>
      {witness.program === undefined && (
        <span class="group only-narrow">
          {(['predicted', 'observed'] as const).map((side) => (
            <button
              key={side}
              type="button"
              aria-pressed={props.side === side}
              onClick={() => props.onSide(side)}
            >
              {side === 'predicted' ? 'Predicted' : 'Observed'}
            </button>
          ))}
        </span>
      )}
      <span class="muted grow">{reductionText(witness)}</span>
      <CopyButton label="Copy link to step" text={() => location.href} />
    </div>
  );
}

function reductionText(witness: Witness): string {
  const shown = `${plural(witness.members, 'step')}, ${plural(witness.switches, 'context switch', 'context switches')}`;
  const before = witness.unreduced;
  if (!before || before.members === witness.members) return shown;
  return `${shown}; reduced from ${plural(before.members, 'step')}`;
}

function StepDetail({ schedule, at }: { schedule: Schedule; at: number }): JSX.Element {
  const row = schedule.rows[at];
  const moment = useMemo(() => momentAt(schedule, at, false), [schedule, at]);
  if (!row) return <div class="step-detail">This schedule has no steps.</div>;
  const { text, value, term = '' } = rowText(row, false);
  const source = sourceOf(schedule, row, at);
  const held = locksHeld(schedule, at);
  return (
    <div class="step-detail" aria-live="polite">
      <p class="step-line">
        <span class="muted">
          {row.final ? 'After step' : `Step ${count(row.number)} of`} {count(schedule.total)}
        </span>
        <b class={`thread lane-${row.lane % 6}`}>{schedule.lanes[row.lane]}</b>
        <span class="mono muted">{whereText(row)}</span>
        <code>{text}</code>
        {value && (
          <code class={row.step?.departs ? 'departs' : 'value'}>
            {value}
            {term}
          </code>
        )}
        {row.step?.departs && (
          <span class="departs">
            {row.step.observed_value !== null && row.step.observed_value !== row.step.value
              ? `observed: ${valueOf(row.step, true)}`
              : 'reads another write than in the observed run'}
          </span>
        )}
        {source && <span class="muted">{source}</span>}
        {held.length > 0 && <span class="muted">holds {held.join(', ')}</span>}
        {row.claimed && <span class="tag violation">violation</span>}
      </p>
      <MomentLine moment={moment} />
    </div>
  );
}

function whereText(row: Row): string {
  const step = row.step;
  if (!step) return `events ${row.event} to ${row.until}`;
  const where = step.location ?? `event ${step.event}`;
  return step.function ? `${where} in ${step.function}` : where;
}

function sourceOf(schedule: Schedule, row: Row, at: number): string {
  if (row.step?.access !== 'read' || row.step.value === null) return '';
  if (row.step.source === null) return 'reads the initial value';
  const arrow = schedule.arrows.find(({ to }) => to === at);
  const from = arrow && schedule.rows[arrow.from];
  return from ? `written in step ${from.number}` : '';
}

const MOST_VALUES = 10;

function MomentLine({ moment }: { moment: ReturnType<typeof momentAt> }): JSX.Element {
  const values = moment.values.slice(0, MOST_VALUES);
  if (!values.length && !moment.locks.length)
    return <p class="moment muted">No values or locks so far.</p>;
  return (
    <p class="moment">
      <span class="muted">Now</span>
      {moment.locks.map(([lock, thread]) => (
        <span key={`lock ${lock} ${thread}`} class="chip lock">
          {lock} held by {thread}
        </span>
      ))}
      {values.map(([name, value]) => (
        <span key={name} class="chip mono">
          {name} = {value}
        </span>
      ))}
      {moment.values.length > values.length && (
        <span class="muted">and {moment.values.length - values.length} more</span>
      )}
    </p>
  );
}

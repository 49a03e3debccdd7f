/* The ranges of a trace's events, and its graph of feasible transactions. */
import type { JSX } from 'preact';
import type { EventRanges, GraphFigures, Intervals, RangeOf } from '../api/intervals';
import { layout } from '../model/graph';
import type { Column } from './SortTable';
import { SortTable } from './SortTable';

const GRAPHS = [
  ['plain', 'Every step a transaction'],
  ['transactions', 'Mutually atomic transactions'],
  ['feasible', 'Feasible ones'],
] as const;

interface GraphRow extends GraphFigures {
  name: string;
}

const FIGURES: Column<GraphRow>[] = [
  { name: 'Graph', value: (row) => row.name },
  { name: 'Nodes', value: (row) => row.nodes },
  { name: 'Transactions', value: (row) => row.transactions },
  { name: 'Switches', value: (row) => row.switches },
  { name: 'Before', value: (row) => row.switches_before },
  { name: 'Bits of locals', value: (row) => row.local_bits },
  { name: 'Bits of shared variables', value: (row) => row.global_bits },
];

function ranges(list: RangeOf[]): string | null {
  return list.length ? list.map((one) => `${one.variable} ${one.range}`).join(', ') : null;
}

const EVENTS: Column<EventRanges>[] = [
  { name: 'Event', value: (row) => row.event },
  { name: 'Thread', value: (row) => row.thread },
  { name: 'Step', value: (row) => row.text, mono: true },
  { name: 'Reads', value: (row) => ranges(row.reads), mono: true },
  { name: 'Writes', value: (row) => ranges(row.writes), mono: true },
  { name: 'Sets', value: (row) => ranges(row.locals), mono: true },
  { name: 'Condition', value: (row) => row.condition },
];

/** Few enough to be told apart. */
const MOST_DRAWN = 60;

function Graph({ intervals }: { intervals: Intervals }): JSX.Element | null {
  const { nodes, at, transactions, width, height } = layout(intervals.nodes);
  if (!nodes.length || nodes.length > MOST_DRAWN) return null;
  return (
    <figure class="interval-graph">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        width={width}
        height={height}
        role="img"
        aria-label="The graph of feasible transactions"
        fill="none"
        stroke="currentColor"
      >
        {intervals.switches.map(([from, to]) => {
          const a = at.get(from);
          const b = at.get(to);
          if (!a || !b) return null;
          const bend = b.y < a.y ? -24 : 24;
          return (
            <path
              key={`${from} ${to}`}
              d={`M${a.x} ${a.y} Q${(a.x + b.x) / 2} ${(a.y + b.y) / 2 + bend} ${b.x} ${b.y}`}
              stroke-dasharray="5 4"
              opacity="0.5"
            >
              <title>{`switch from ${from} to ${to}`}</title>
            </path>
          );
        })}
        {transactions.map(([a, b]) => (
          <line key={a.node} x1={a.x} y1={a.y} x2={b.x} y2={b.y} stroke-width="3">
            <title>{`transaction from ${a.node} to ${b.node}`}</title>
          </line>
        ))}
        {nodes.map((node) => (
          <g key={node.node}>
            <circle cx={node.x} cy={node.y} r="5" fill="currentColor" />
            <text x={node.x + 10} y={node.y + 4} fill="currentColor" stroke="none">
              {node.node}
            </text>
          </g>
        ))}
      </svg>
      <figcaption class="muted">
        A node is the step that is next in its thread (J: its end). Solid: transactions. Dashed:
        context switches.
      </figcaption>
    </figure>
  );
}

export function IntervalGraph({ intervals }: { intervals: Intervals }): JSX.Element {
  const rows = GRAPHS.flatMap(([key, name]) => {
    const figures = intervals.graphs[key];
    return figures ? [{ ...figures, name }] : [];
  });
  return (
    <>
      {intervals.left_out && <p class="muted">No ranges: {intervals.left_out}.</p>}
      <Graph intervals={intervals} />
      <div class="tables">
        <SortTable caption="Graphs" columns={FIGURES} rows={rows} total={rows.length} />
        <SortTable
          caption="Ranges of events"
          columns={EVENTS}
          rows={intervals.events}
          total={intervals.events.length}
        />
      </div>
    </>
  );
}

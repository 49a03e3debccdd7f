/* A schedule as a graph: a lane for each thread, its operations from top to bottom, and the edges
   between threads. The list below it has the same in words. */
import type { JSX } from 'preact';
import { edgesOf, lanesOf, type ScheduleGraph as Schedule } from '../model/schedules';
import { plural } from '../lib/format';

const ROW = 26;
const LANE = 210;
const TOP = 30;
const LEFT = 14;
const LANE_COLOURS = 6;
/** Few enough to be told apart. */
const MOST_DRAWN = 120;
const MOST_LISTED = 1000;

function edgePath(a: { x: number; y: number }, b: { x: number; y: number }): string {
  const bend = Math.max(20, Math.abs(b.x - a.x) / 3) * (b.x < a.x ? -1 : 1);
  return `M${a.x} ${a.y} C${a.x + bend} ${a.y} ${b.x - bend} ${b.y} ${b.x} ${b.y}`;
}

function Drawing({ schedule }: { schedule: Schedule }): JSX.Element {
  const lanes = lanesOf(schedule);
  const laneOf = new Map(lanes.map((name, lane) => [name, lane]));
  const width = LEFT + lanes.length * LANE;
  const height = TOP + schedule.nodes.length * ROW + 6;
  const at = schedule.nodes.map((node, row) => ({
    x: LEFT + (laneOf.get(node.thread) ?? 0) * LANE,
    y: TOP + row * ROW + ROW / 2,
  }));
  return (
    <figure class="schedule-graph" tabIndex={0} aria-label={`Graph of schedule ${schedule.name}`}>
      <svg viewBox={`0 0 ${width} ${height}`} width={width} height={height} aria-hidden="true">
        <defs>
          <marker
            id={`arrow-${schedule.name}`}
            viewBox="0 0 8 8"
            refX="12"
            refY="4"
            markerWidth="7"
            markerHeight="7"
            orient="auto"
          >
            <path d="M0 0 L8 4 L0 8 z" fill="currentColor" />
          </marker>
        </defs>
        {lanes.map((name, lane) => {
          const own = at.filter((_, row) => schedule.nodes[row]?.thread === name);
          const x = LEFT + lane * LANE;
          return (
            <g key={name} class={`lane-${lane % LANE_COLOURS}`}>
              <text class="lane-name" x={x - 6} y={16}>
                thread {name}
              </text>
              <line x1={x} y1={own[0]?.y ?? 0} x2={x} y2={own[own.length - 1]?.y ?? 0} />
            </g>
          );
        })}
        {edgesOf(schedule).map(([from, to]) => {
          const [a, b] = [at[from], at[to]];
          if (!a || !b) return null;
          return (
            <path
              key={`${from} ${to}`}
              class="edge"
              d={edgePath(a, b)}
              marker-end={`url(#arrow-${schedule.name})`}
            />
          );
        })}
        {schedule.nodes.map((node, row) => (
          <g key={node.name} class={`lane-${(laneOf.get(node.thread) ?? 0) % LANE_COLOURS}`}>
            <circle cx={at[row]?.x} cy={at[row]?.y} r="4.5" />
            <text x={(at[row]?.x ?? 0) + 11} y={(at[row]?.y ?? 0) + 4}>
              {node.text}
              <title>{node.place ?? node.name}</title>
            </text>
          </g>
        ))}
      </svg>
    </figure>
  );
}

export function ScheduleGraph({ schedule }: { schedule: Schedule }): JSX.Element {
  const { nodes } = schedule;
  const small = nodes.length <= MOST_DRAWN;
  return (
    <>
      {small ? (
        <Drawing schedule={schedule} />
      ) : (
        <p class="muted">{plural(nodes.length, 'operation')}: too many to draw.</p>
      )}
      <details open={!small}>
        <summary>{plural(nodes.length, 'operation')} in words</summary>
        <ol class="mono schedule-list">
          {nodes.slice(0, MOST_LISTED).map((node) => (
            <li key={node.name}>
              <b>{node.name}</b> {node.text}
              {node.place && <span class="muted"> at {node.place}</span>}
              {node.after.length > 0 && <span class="muted"> after {node.after.join(', ')}</span>}
            </li>
          ))}
        </ol>
        {nodes.length > MOST_LISTED && <p class="muted">The first {MOST_LISTED} are listed.</p>}
      </details>
    </>
  );
}

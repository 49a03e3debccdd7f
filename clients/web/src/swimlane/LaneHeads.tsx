/* The names of the lanes; a press collapses or expands the lane. */
import type { JSX } from 'preact';

interface LaneHeadsProps {
  names: string[];
  edges: number[];
  closed: ReadonlySet<number>;
  onToggle: (lane: number) => void;
  inner: { current: HTMLDivElement | null };
}

export function LaneHeads(props: LaneHeadsProps): JSX.Element {
  return (
    <div class="lane-heads">
      <div ref={props.inner}>
        {props.names.map((name, lane) => {
          const open = !props.closed.has(lane);
          return (
            <button
              key={name}
              type="button"
              class={`lane-head lane-${lane % 6}`}
              aria-expanded={open}
              aria-label={`Lane of thread ${name}`}
              title={`${open ? 'Collapse' : 'Expand'} thread ${name}`}
              style={{
                left: `${props.edges[lane]}px`,
                width: `${props.edges[lane + 1]! - props.edges[lane]!}px`,
              }}
              onClick={() => props.onToggle(lane)}
            >
              {open ? name : '›'}
            </button>
          );
        })}
      </div>
    </div>
  );
}

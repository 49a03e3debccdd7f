/* The schedule as a list box over the canvas, for keys and screen readers. */
import type { JSX } from 'preact';
import type { Schedule } from '../model/schedule';
import { describeRow } from '../model/schedule';

/** Rows on either side of the selected one that are in the document. */
const MIRROR = 12;

interface StepListProps {
  id: string;
  title: string;
  schedule: Schedule;
  observed: boolean;
  selected: number;
  onKey: (event: KeyboardEvent) => boolean;
  list: { current: HTMLDivElement | null };
}

/** The rows around the selected one as options of the list box. */
export function StepList(props: StepListProps): JSX.Element {
  const { schedule, selected, observed, id } = props;
  const from = Math.max(0, selected - MIRROR);
  const rows = schedule.rows.slice(from, selected + MIRROR + 1);
  return (
    <div
      ref={props.list}
      class="pane-list"
      role="listbox"
      tabIndex={0}
      aria-label={`${props.title}, ${schedule.total} steps`}
      aria-activedescendant={`${id}-${selected}`}
      onKeyDown={(event) => {
        if (props.onKey(event)) event.preventDefault();
      }}
    >
      {rows.map((row, i) => (
        <div
          key={from + i}
          id={`${id}-${from + i}`}
          class="unseen"
          role="option"
          aria-selected={from + i === selected}
          aria-setsize={schedule.rows.length}
          aria-posinset={from + i + 1}
        >
          {describeRow(row, schedule.lanes, schedule.total, observed)}
        </div>
      ))}
    </div>
  );
}

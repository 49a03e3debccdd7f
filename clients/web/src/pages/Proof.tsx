/* The reason why a candidate is not a violation, or why it is undecided. */
import type { JSX } from 'preact';
import type { Access, Cause, Verdict, VerdictRecord } from '../api/types';
import { passText } from '../model/report';
import { layCycle } from '../model/cycle';
import { count, duration } from '../lib/format';
import { Tag } from '../parts/Verdict';

const HEADINGS: Partial<Record<Verdict, string>> = {
  safe: 'Why it cannot happen',
  bounded: 'Why it cannot happen within the context bound',
};

export function Proof({ record }: { record: VerdictRecord }): JSX.Element | null {
  const reason = record.reason;
  if (!reason) return null;
  return (
    <section aria-labelledby="why">
      <h2 id="why">{HEADINGS[record.verdict] ?? 'Why it is undecided'}</h2>
      <p class="lead">
        <Tag name={reason.pass} /> {passText(reason.pass)}
      </p>
      {!reason.cycle && <p>{reason.text}</p>}
      {reason.pass === 'lockset' && <CommonLocks accesses={record.accesses ?? []} />}
      {reason.cycle && <Cycle causes={reason.cycle} />}
      <Passes passes={reason.passes} />
      <Effort record={record} />
    </section>
  );
}

function CommonLocks({ accesses }: { accesses: Access[] }): JSX.Element | null {
  const first = accesses[0];
  const common = first?.locks?.filter((lock) =>
    accesses.every((access) => access.locks?.includes(lock)),
  );
  if (!common?.length) return null;
  return (
    <p>
      {common.map((lock) => (
        <span key={lock} class="chip lock">
          {lock} is held at{' '}
          {accesses.map((access) => access.location ?? access.thread).join(' and ')}
        </span>
      ))}
    </p>
  );
}

function Passes({ passes }: { passes: Record<string, number> | undefined }): JSX.Element | null {
  const entries = Object.entries(passes ?? {});
  if (entries.length < 2) return null;
  return (
    <ul class="passes plain">
      {entries.map(([pass, pairs]) => (
        <li key={pass}>
          <b>{pass}</b> <span class="num">{count(pairs)}</span>{' '}
          <span class="muted">{passText(pass)}</span>
        </li>
      ))}
    </ul>
  );
}

function Effort({ record }: { record: VerdictRecord }): JSX.Element | null {
  const { encode_ms: encode, solve_ms: solve, events, rounds } = record.stats ?? {};
  if (solve === undefined) return null;
  return (
    <p class="muted">
      {events !== undefined && `${count(events)} events encoded`}
      {encode !== undefined && ` in ${duration(encode)}`}, solved in {duration(solve)}
      {rounds !== undefined && `, ${count(rounds)} rounds`}.
    </p>
  );
}

/** The cycle, drawn over the threads and as a list. */
function Cycle({ causes }: { causes: Cause[] }): JSX.Element {
  const drawing = layCycle(causes);
  return (
    <div class="cycle">
      <h3>The cycle</h3>
      <div class="cycle-scroll" tabIndex={0} role="group" aria-label="Drawing of the cycle">
        <svg
          width={drawing.width}
          height={drawing.height}
          viewBox={`0 0 ${drawing.width} ${drawing.height}`}
          role="img"
          aria-label="Each event has to come before the next one, and the last before the first."
        >
          <defs>
            <marker
              id="tip"
              viewBox="0 0 8 8"
              refX="7"
              refY="4"
              markerWidth="7"
              markerHeight="7"
              orient="auto"
            >
              <path d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          {drawing.lanes.map((lane) => (
            <g key={lane.name}>
              <text class="cycle-thread" x={lane.x} y="16" text-anchor="middle">
                {lane.name}
              </text>
              <line class="cycle-lane" x1={lane.x} x2={lane.x} y1="26" y2={drawing.height - 8} />
            </g>
          ))}
          {drawing.edges.map((edge) => (
            <g key={edge.path} class={edge.closing ? 'cycle-edge closing' : 'cycle-edge'}>
              <path d={edge.path} marker-end="url(#tip)" />
              <text x={edge.labelX} y={edge.labelY} text-anchor="middle">
                {edge.label}
              </text>
            </g>
          ))}
          {drawing.nodes.map((node) => (
            <g key={node.key} class="cycle-node">
              <rect
                x={node.x - node.width / 2}
                y={node.y - 15}
                width={node.width}
                height="30"
                rx="5"
              />
              <text class="mono" x={node.x} y={node.y - 2} text-anchor="middle">
                {node.text}
              </text>
              <text class="cycle-where mono" x={node.x} y={node.y + 10} text-anchor="middle">
                {node.where}
              </text>
            </g>
          ))}
        </svg>
      </div>
      <ol class="cycle-words">
        {causes.map((cause, i) => (
          <li key={i}>
            <code>{cause.display ?? cause.text}</code> by <b>{cause.thread}</b>{' '}
            <span class="mono muted">{cause.location ?? `event ${cause.event}`}</span>
            <span class="why">
              {' '}
              comes before {i + 1 === causes.length ? 'the first' : 'the next'}: {cause.why}
              {cause.object ? ` (${cause.object})` : ''}
            </span>
          </li>
        ))}
      </ol>
    </div>
  );
}

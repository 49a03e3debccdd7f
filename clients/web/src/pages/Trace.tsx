/* One trace: its size, its hot variables, locks and locations, a timeline of its threads, its jobs. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Intervals } from '../api/intervals';
import type { JobPage, TraceMeta } from '../api/types';
import type {
  LocationSummary,
  LockSummary,
  ThreadSummary,
  Timeline,
  TraceSummary,
  VariableSummary,
} from '../api/summary';
import { useLive } from '../api/live';
import { bytes, count, shortHash } from '../lib/format';
import { Loading, Problem } from '../parts/Problem';
import type { Column } from '../parts/SortTable';
import { SortTable } from '../parts/SortTable';
import { Fact } from '../parts/Fact';
import { IntervalGraph } from '../parts/IntervalGraph';
import { Notes } from '../parts/Notes';
import { JobTable } from './Jobs';

export function Trace({ hash }: { hash: string }): JSX.Element {
  const path = `/v1/traces/${encodeURIComponent(hash)}`;
  const { data: meta, error } = useLive<TraceMeta>(path);
  const jobs = useLive<JobPage>(`/v1/jobs?trace=${encodeURIComponent(hash)}`, { every: 5000 });
  const summary = useLive<TraceSummary>(meta ? `${path}/summary` : null);
  if (!meta)
    return (
      <main id="main">
        {error ? <Problem error={error} what={`Trace ${shortHash(hash)}`} /> : <Loading />}
      </main>
    );
  return (
    <main id="main">
      <TraceHead meta={meta} />
      {summary.data ? (
        <Summary summary={summary.data} />
      ) : (
        <p class="muted">
          {summary.error
            ? `The summary of this trace cannot be read: ${summary.error.message}`
            : 'Loading the summary …'}
        </p>
      )}
      {meta.models.includes('ctp') && <IntervalSection path={path} />}
      <section>
        <h2>Jobs on this trace</h2>
        {jobs.data && <JobTable jobs={jobs.data.jobs} />}
      </section>
      <Notes notes={meta.notes ?? []} />
    </main>
  );
}

/** A worker computes them for each request: on demand. */
function IntervalSection({ path }: { path: string }): JSX.Element {
  const [wanted, setWanted] = useState(false);
  const { data, error } = useLive<Intervals>(wanted ? `${path}/intervals` : null);
  return (
    <section>
      <h2>Ranges of values</h2>
      {!wanted && (
        <button type="button" onClick={() => setWanted(true)}>
          Compute the ranges
        </button>
      )}
      {wanted && !data && !error && <Loading />}
      {error && <Problem error={error} what="The interval analysis" />}
      {data && <IntervalGraph intervals={data} />}
    </section>
  );
}

function TraceHead({ meta }: { meta: TraceMeta }): JSX.Element {
  return (
    <header class="head">
      <p class="crumbs">
        <a href="#/traces">Traces</a>
      </p>
      <h1>
        Trace <code>{shortHash(meta.trace)}</code>
      </h1>
      <dl class="facts">
        <Fact name="Events">{count(meta.events)}</Fact>
        <Fact name="Threads">{count(meta.threads)}</Fact>
        <Fact name="Variables">{count(meta.variables)}</Fact>
        <Fact name="Locks">{count(meta.locks)}</Fact>
        <Fact name="Format">{meta.format}</Fact>
        <Fact name="Size">
          {bytes(meta.bytes)} ({bytes(meta.stored_bytes)} stored)
        </Fact>
        <Fact name="Models">{meta.models.join(', ')}</Fact>
      </dl>
      <p class="mono muted hash">{meta.trace}</p>
      {meta.broken && (
        <p class="problem">
          The observed order violates the semantics at event {meta.broken.event}: {meta.broken.text}
        </p>
      )}
    </header>
  );
}

const THREADS: Column<ThreadSummary>[] = [
  { name: 'Thread', value: (row) => row.thread },
  { name: 'Created by', value: (row) => row.parent },
  { name: 'Events', value: (row) => row.events },
  { name: 'First', value: (row) => row.first },
  { name: 'Last', value: (row) => row.last },
];

const LOCKS: Column<LockSummary>[] = [
  { name: 'Lock', value: (row) => row.lock, mono: true },
  { name: 'Kind', value: (row) => row.kind },
  { name: 'Acquires', value: (row) => row.acquires },
  { name: 'Threads', value: (row) => row.threads },
  { name: 'Handovers', value: (row) => row.handovers },
];

const VARIABLES: Column<VariableSummary>[] = [
  { name: 'Variable', value: (row) => row.variable, mono: true },
  { name: 'Reads', value: (row) => row.reads },
  { name: 'Writes', value: (row) => row.writes },
  { name: 'Threads', value: (row) => row.threads },
  { name: 'Handovers', value: (row) => row.handovers },
];

const LOCATIONS: Column<LocationSummary>[] = [
  {
    name: 'Location',
    value: (row) => (row.function ? `${row.location} in ${row.function}` : row.location),
    mono: true,
  },
  { name: 'Events', value: (row) => row.events },
  { name: 'Threads', value: (row) => row.threads },
];

function Summary({ summary }: { summary: TraceSummary }): JSX.Element {
  const { threads, locks, variables, locations, timeline, totals } = summary;
  return (
    <>
      {timeline.threads.length > 0 && <TimelineChart timeline={timeline} />}
      <div class="tables">
        <SortTable caption="Threads" columns={THREADS} rows={threads} total={totals.threads} />
        <SortTable
          caption="Hot variables"
          columns={VARIABLES}
          rows={variables}
          total={totals.variables}
        />
        <SortTable caption="Locks" columns={LOCKS} rows={locks} total={totals.locks} />
        <SortTable
          caption="Hot locations"
          columns={LOCATIONS}
          rows={locations}
          total={totals.locations}
        />
      </div>
    </>
  );
}

const LANE = 22;
const NAMES = 90;
const WIDTH = 1000;
const MOST_LANES = 40;

/** Events of each thread over the observed run. */
function TimelineChart({ timeline }: { timeline: Timeline }): JSX.Element {
  const shown = timeline.threads.slice(0, MOST_LANES);
  const most = Math.max(...timeline.counts.flat(), 1);
  const width = (WIDTH - NAMES) / Math.max(timeline.columns, 1);
  const events = timeline.columns * timeline.events_per_column;
  return (
    <section aria-labelledby="timeline">
      <h2 id="timeline">Timeline</h2>
      <svg
        class="timeline"
        viewBox={`0 0 ${WIDTH} ${shown.length * LANE + 20}`}
        role="img"
        aria-label={`Events of ${shown.length} threads over the run of about ${count(events)} events`}
      >
        {shown.map((thread, lane) => (
          <g key={thread}>
            <text x={NAMES - 8} y={lane * LANE + 15} text-anchor="end">
              {thread.slice(0, 12)}
            </text>
            <line
              class="axis"
              x1={NAMES}
              x2={WIDTH}
              y1={lane * LANE + LANE - 1}
              y2={lane * LANE + LANE - 1}
            />
            {(timeline.counts[lane] ?? []).map((n, i) => {
              const height = n ? Math.max(2, (n / most) * (LANE - 4)) : 0;
              return n ? (
                <rect
                  key={i}
                  class={`lane-${lane % 6}`}
                  x={NAMES + i * width}
                  y={lane * LANE + LANE - 1 - height}
                  width={Math.max(width - (width > 3 ? 0.6 : 0), 0.8)}
                  height={height}
                />
              ) : null;
            })}
          </g>
        ))}
        <text x={NAMES} y={shown.length * LANE + 15}>
          event 1
        </text>
        <text x={WIDTH} y={shown.length * LANE + 15} text-anchor="end">
          {count(events)}
        </text>
      </svg>
    </section>
  );
}

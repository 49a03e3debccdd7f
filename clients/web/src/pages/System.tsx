/* Workers and the queue, now and over time. */
import type { JSX } from 'preact';
import type { NodeInfo, Stats, WorkerInfo, WorkerPage } from '../api/types';
import { useLive } from '../api/live';
import { formatRoute } from '../lib/router';
import { bytes, count, duration } from '../lib/format';
import { columnsOf } from '../model/stats';
import { Loading, Problem } from '../parts/Problem';
import { Chart } from '../parts/Chart';
import { Tag } from '../parts/Verdict';
import { Fact } from '../parts/Fact';

const POLL_MS = 2000;

export function System(): JSX.Element {
  const { data, error } = useLive<WorkerPage>('/v1/workers', { every: POLL_MS });
  const stats = useLive<Stats>('/v1/stats', { every: POLL_MS });
  return (
    <main id="main">
      <h1>Workers and queue</h1>
      {error && !data && <Problem error={error} what="The workers" />}
      {!data && !error && <Loading />}
      {stats.data && <Load stats={stats.data} />}
      {data?.nodes && <NodeTable nodes={data.nodes} />}
      {data && <WorkerTable workers={data.workers} fleet={Boolean(data.nodes)} />}
      {stats.data && <History stats={stats.data} />}
      {stats.error && !stats.data && <p class="muted">No history: {stats.error.message}</p>}
    </main>
  );
}

function NodeTable({ nodes }: { nodes: NodeInfo[] }): JSX.Element {
  return (
    <table class="list">
      <caption>Nodes</caption>
      <thead>
        <tr>
          <th scope="col">Node</th>
          <th scope="col" class="right">
            Workers
          </th>
          <th scope="col" class="right">
            Busy
          </th>
          <th scope="col" class="right">
            Tasks
          </th>
          <th scope="col" class="right">
            Heard
          </th>
          <th scope="col" class="right wide">
            Version
          </th>
        </tr>
      </thead>
      <tbody>
        {nodes.map((node) => (
          <tr key={node.node}>
            <td>
              {node.name} <span class="muted">{node.own ? 'this one' : node.node}</span>
            </td>
            <td class="right num">{count(node.workers ?? 0)}</td>
            <td class="right num">{count(node.busy ?? 0)}</td>
            <td class="right num">{count(node.tasks ?? 0)}</td>
            <td class="right num">{duration(node.silent_ms)} ago</td>
            <td class="right wide">{node.version ?? ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface WorkersProps {
  workers: WorkerInfo[];
  /** They are one node's of several. */
  fleet: boolean;
}

function WorkerTable({ workers, fleet }: WorkersProps): JSX.Element {
  return (
    <table class="list">
      {fleet ? <caption>Workers of this node</caption> : <caption class="unseen">Workers</caption>}
      <thead>
        <tr>
          <th scope="col">Worker</th>
          <th scope="col">State</th>
          <th scope="col">Task</th>
          <th scope="col">Job</th>
          <th scope="col" class="right">
            Tasks
          </th>
          <th scope="col" class="right wide">
            Memory
          </th>
          <th scope="col" class="right wide">
            Restarts
          </th>
          <th scope="col" class="right wide">
            Process
          </th>
        </tr>
      </thead>
      <tbody>
        {workers.map((worker) => (
          <tr key={worker.worker}>
            <td>
              {worker.worker} <span class="muted">{worker.role}</span>
            </td>
            <td>
              <Tag name={worker.state} />
            </td>
            <td>{[worker.kind, worker.progress].filter(Boolean).join(': ')}</td>
            <td class="mono">
              {worker.job && <a href={formatRoute(['jobs', worker.job])}>{worker.job}</a>}
            </td>
            <td class="right num">{count(worker.tasks)}</td>
            <td class="right num wide">{worker.memory ? bytes(worker.memory) : ''}</td>
            <td class="right num wide">{count(worker.restarts)}</td>
            <td class="right num wide">{worker.pid ?? ''}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

interface Panel {
  title: string;
  names: string[];
  /** Converts a value of the history: counters become rates per second, bytes MiB. */
  scale?: (value: number, seconds: number) => number;
}

const MIB = 1 << 20;

const PANELS: Panel[] = [
  { title: 'Queue', names: ['queued', 'running'] },
  { title: 'Workers', names: ['workers_busy', 'workers_alive'] },
  { title: 'Tasks per second', names: ['tasks'], scale: (value, seconds) => value / seconds },
  {
    title: 'Memory, MiB',
    names: ['workers_memory', 'resident_bytes'],
    scale: (value) => value / MIB,
  },
];

function Load({ stats }: { stats: Stats }): JSX.Element {
  const { now } = stats;
  const number = (name: string): string => count(now[name] ?? 0);
  return (
    <dl class="facts">
      <Fact name="Queued tasks">{number('queued')}</Fact>
      <Fact name="Running tasks">{number('running')}</Fact>
      <Fact name="Open jobs">{number('jobs')}</Fact>
      <Fact name="Longest wait">{duration(now['age_ms'] ?? 0)}</Fact>
      <Fact name="Tasks done">{number('tasks')}</Fact>
      <Fact name="Uptime">{duration(stats.at - stats.started)}</Fact>
    </dl>
  );
}

function History({ stats }: { stats: Stats }): JSX.Element {
  const at = stats.history['at'] ?? [];
  if (at.length < 2)
    return (
      <p class="muted">
        The charts appear with the second sample; the server takes one every{' '}
        {duration(stats.sample_ms)}.
      </p>
    );
  return (
    <section aria-labelledby="history">
      <h2 id="history">
        History <span class="muted">{duration(at[at.length - 1]! - at[0]!)}</span>
      </h2>
      <div class="charts">
        {PANELS.map((panel) => (
          <Chart
            key={panel.title}
            title={panel.title}
            names={panel.names}
            data={columnsOf(stats, panel.names, panel.scale)}
          />
        ))}
      </div>
    </section>
  );
}

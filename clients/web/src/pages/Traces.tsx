/* Stored traces, newest first. */
import type { JSX } from 'preact';
import type { TracePage } from '../api/types';
import { useLive } from '../api/live';
import { formatRoute } from '../lib/router';
import { ago, bytes, count, shortHash } from '../lib/format';
import { Empty, Loading, Problem } from '../parts/Problem';

export function Traces(): JSX.Element {
  const { data, error } = useLive<TracePage>('/v1/traces?limit=100', { every: 5000 });
  return (
    <main id="main">
      <h1>Traces</h1>
      {error && !data && <Problem error={error} what="The list of traces" />}
      {!data && !error && <Loading />}
      {data?.traces.length === 0 && (
        <Empty>No traces yet. Submitting a job uploads its trace.</Empty>
      )}
      {!!data?.traces.length && (
        <table class="list">
          <thead>
            <tr>
              <th scope="col">Trace</th>
              <th scope="col" class="right">
                Events
              </th>
              <th scope="col" class="right">
                Threads
              </th>
              <th scope="col" class="right wide">
                Size
              </th>
              <th scope="col" class="wide">
                Format
              </th>
              <th scope="col" class="wide">
                Model
              </th>
              <th scope="col" class="right">
                Stored
              </th>
            </tr>
          </thead>
          <tbody>
            {data.traces.map((trace) => (
              <tr key={trace.trace}>
                <td class="mono">
                  <a href={formatRoute(['traces', trace.trace])}>{shortHash(trace.trace)}</a>
                </td>
                <td class="right num">{count(trace.events)}</td>
                <td class="right num">{count(trace.threads)}</td>
                <td class="right num wide">{bytes(trace.bytes)}</td>
                <td class="wide">{trace.format}</td>
                <td class="wide">{trace.default_model}</td>
                <td class="right muted">{trace.created ? ago(trace.created) : ''}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </main>
  );
}

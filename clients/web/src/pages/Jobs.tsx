/* All jobs, newest first: live progress, filters, search. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Job, JobPage } from '../api/types';
import { getJson } from '../api/client';
import type { Found } from '../api/counts';
import { useFound } from '../api/counts';
import { useLive } from '../api/live';
import { formatRoute, replaceQuery } from '../lib/router';
import { ago, count, plural, shortHash } from '../lib/format';
import { Empty, Loading, Problem } from '../parts/Problem';
import { errorText, ProgressBar, Tag } from '../parts/Verdict';

const STATES = ['queued', 'planning', 'solving', 'done', 'failed', 'cancelled'];
const PAGE = 100;
const POLL_MS = 3000;

function listPath(state: string, search: string): string {
  const query = new URLSearchParams({ limit: String(PAGE) });
  if (state) query.set('state', state);
  if (search) query.set('search', search);
  return `/v1/jobs?${query.toString()}`;
}

const TYPING_MS = 200;

/** The text as it was at the last pause in typing. */
function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), TYPING_MS);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

export function Jobs({ query }: { query: Record<string, string> }): JSX.Element {
  const state = query['state'] ?? '';
  const text = query['q'] ?? '';
  const path = listPath(state, useSettled(text.trim()));
  const live = useLive<JobPage>(path, { every: POLL_MS, events: '/v1/events' });
  const { error } = live;
  // The old list stays on the page while the next search loads.
  const last = useRef<JobPage | null>(null);
  last.current = live.data ?? last.current;
  const data = last.current;
  const older = useOlder(path, live.data?.next ?? null);
  const jobs = data ? [...data.jobs, ...older.jobs] : [];

  return (
    <main id="main">
      <h1>Jobs</h1>
      <div class="filters" role="search">
        <input
          type="search"
          placeholder="Search name, id, project, trace"
          aria-label="Search jobs"
          value={text}
          onInput={(event) => replaceQuery({ q: event.currentTarget.value })}
        />
        <select
          aria-label="State"
          value={state}
          onChange={(event) => replaceQuery({ state: event.currentTarget.value })}
        >
          <option value="">All states</option>
          {STATES.map((name) => (
            <option key={name} value={name}>
              {name}
            </option>
          ))}
        </select>
        {data && (
          <span class="muted" role="status">
            {plural(jobs.length, 'job')}
            {older.next ? ' and older ones' : ''}
          </span>
        )}
      </div>
      {error && !data && <Problem error={error} what="The list of jobs" />}
      {!data && !error && <Loading />}
      {data && jobs.length === 0 && <NoJobs filtered={!!state || !!text} />}
      {data && jobs.length > 0 && <JobTable jobs={jobs} />}
      {older.next && (
        <button type="button" onClick={older.load}>
          Load older jobs
        </button>
      )}
    </main>
  );
}

interface Older {
  jobs: Job[];
  next: string | null;
  load: () => void;
}

/** Pages after the first one: loaded on request and not kept up to date. */
function useOlder(path: string, first: string | null): Older {
  const [pages, setPages] = useState<{ path: string; jobs: Job[]; next: string | null } | null>(
    null,
  );
  const mine = pages?.path === path ? pages : null;
  const next = mine ? mine.next : first;
  async function load(): Promise<void> {
    if (!next) return;
    const page = await getJson<JobPage>(`${path}&after=${encodeURIComponent(next)}`);
    setPages({ path, jobs: [...(mine?.jobs ?? []), ...page.jobs], next: page.next });
  }
  return { jobs: mine?.jobs ?? [], next, load: () => void load() };
}

function NoJobs({ filtered }: { filtered: boolean }): JSX.Element {
  if (filtered) return <Empty>No jobs match.</Empty>;
  return (
    <Empty>
      <p>No jobs yet. Submit the trace of a passing run:</p>
      <pre>foretell submit --server {location.origin} run.ndjson</pre>
    </Empty>
  );
}

export function JobTable({ jobs }: { jobs: Job[] }): JSX.Element {
  const found = useFound(jobs);
  return (
    <table class="list">
      <thead>
        <tr>
          <th scope="col">Job</th>
          <th scope="col">State</th>
          <th scope="col">Progress</th>
          <th scope="col" class="right">
            Findings
          </th>
          <th scope="col" class="wide">
            Model
          </th>
          <th scope="col" class="wide">
            Trace
          </th>
          <th scope="col" class="right">
            Started
          </th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <JobRow key={job.job} job={job} found={found(job)} />
        ))}
      </tbody>
    </table>
  );
}

function JobRow({ job, found }: { job: Job; found: Found | undefined }): JSX.Element {
  return (
    <tr>
      <td>
        <a href={formatRoute(['jobs', job.job])}>{job.name ?? job.job}</a>
        {job.name && <span class="sub mono">{job.job}</span>}
      </td>
      <td>
        <Tag name={job.state} title={errorText(job.error)} />
      </td>
      <td>
        <ProgressBar progress={job.progress} state={job.state} />
      </td>
      <td class={`right num ${found?.violations ? 'violation' : 'zero'}`}>
        {found && count(found.violations)}
        {!!found?.undecided && <span class="sub">{count(found.undecided)} undecided</span>}
      </td>
      <td class="wide">{job.model}</td>
      <td class="wide mono">
        <a href={formatRoute(['traces', job.trace])}>{shortHash(job.trace)}</a>
      </td>
      <td class="right muted">
        <time dateTime={job.created} title={job.created}>
          {ago(job.created)}
        </time>
      </td>
    </tr>
  );
}

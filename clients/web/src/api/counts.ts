/* Finding counts for a list of jobs, read from each job: the list does not contain them. */
import { useEffect, useState } from 'preact/hooks';
import type { Job } from './types';
import { getJson } from './client';

export interface Found {
  violations: number;
  undecided: number;
}

const AT_ONCE = 4;
const known = new Map<string, Found>();

const keyOf = (job: Job): string => `${job.job} ${job.revision}`;

function foundIn(job: Job): Found {
  const found = { violations: 0, undecided: 0 };
  for (const counts of Object.values(job.checks ?? {})) {
    found.violations += counts.violation;
    found.undecided += counts.unknown + counts.error + counts.bounded;
  }
  return found;
}

async function readAll(jobs: Job[], signal: AbortSignal, changed: () => void): Promise<void> {
  const waiting = jobs.filter((job) => !known.has(keyOf(job)));
  async function work(): Promise<void> {
    for (let job = waiting.shift(); job && !signal.aborted; job = waiting.shift()) {
      known.set(keyOf(job), foundIn(await getJson<Job>(`/v1/jobs/${job.job}`, signal)));
      changed();
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, work));
}

/** Counts of the jobs as they become known, by job. */
export function useFound(jobs: Job[]): (job: Job) => Found | undefined {
  const [, setRound] = useState(0);
  useEffect(() => {
    const control = new AbortController();
    // A job that cannot be read stays without counts.
    readAll(jobs, control.signal, () => setRound((n) => n + 1)).catch(() => undefined);
    return () => control.abort();
  }, [jobs.map(keyOf).join()]);
  return (job) => known.get(keyOf(job));
}

/* Tags, bars and error texts of jobs and verdicts. */
import type { JSX } from 'preact';
import type { Counts, Explored, Job, Progress } from '../api/types';
import { count, plural } from '../lib/format';

export function Tag({ name, title }: { name: string; title?: string }): JSX.Element {
  return (
    <span class={`tag ${name}`} {...(title ? { title } : {})}>
      {name}
    </span>
  );
}

export function ProgressBar({
  progress,
  state,
}: {
  progress: Progress;
  state: string;
}): JSX.Element {
  const total = Math.max(progress.total, 1);
  const share = state === 'done' ? 1 : progress.done / total;
  return (
    <span class="progress">
      <progress max={1} value={share} aria-label={`${Math.round(share * 100)} % done`} />
      <span class="muted num">
        {count(progress.done)} / {count(progress.total)}
      </span>
    </span>
  );
}

/** How much of a search is worked off; what is open may grow. */
export function SubtreeBar({ explored }: { explored: Explored }): JSX.Element {
  const { done, open } = explored.subtrees;
  const share = done / Math.max(done + open, 1);
  return (
    <span class="progress">
      <progress max={1} value={share} aria-label={`${done} subtrees done, ${open} open`} />
      <span class="muted num">
        {plural(done, 'subtree')} done, {count(open)} open, {count(explored.runs)} executions
        {explored.rounds > 1 && `, round ${count(explored.rounds)}`}
      </span>
    </span>
  );
}

const PARTS = ['violation', 'safe', 'bounded', 'unknown', 'error'] as const;

/** The verdicts of a check as one bar; its empty end is the candidates still to be decided. */
export function CountBar({ counts }: { counts: Counts }): JSX.Element {
  const total = Math.max(counts.candidates, 1);
  let x = 0;
  return (
    <svg class="count-bar" viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true">
      {PARTS.map((part) => {
        const width = (counts[part] / total) * 100;
        x += width;
        return <rect key={part} class={part} x={x - width} y="0" width={width} height="6" />;
      })}
    </svg>
  );
}

export function errorText(error: Job['error']): string {
  if (!error) return '';
  return typeof error === 'string' ? error : (error.detail ?? error.message ?? 'failed');
}

export function isEnded(job: Pick<Job, 'state'>): boolean {
  return job.state === 'done' || job.state === 'failed' || job.state === 'cancelled';
}

/* The review of a finding in its project; hidden if the server has none. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Job, Review, ReviewState, VerdictRecord } from '../api/types';
import { sendJson } from '../api/client';
import { useLive } from '../api/live';
import { ago, plural } from '../lib/format';
import { formatRoute } from '../lib/router';
import { Failure, useAction } from './Action';
import { Tag } from './Verdict';

const STATES: Record<ReviewState, string> = {
  open: 'not decided yet',
  confirmed: 'a bug',
  false: 'not a bug',
  fixed: 'repaired',
};

interface ReviewBoxProps {
  record: VerdictRecord;
  job: string;
}

export function ReviewBox({ record, job }: ReviewBoxProps): JSX.Element | null {
  const wanted = record.verdict === 'violation' && !!record.fingerprint;
  const owner = useLive<Job>(wanted ? `/v1/jobs/${encodeURIComponent(job)}` : null);
  const project = owner.data?.project;
  const path = project
    ? `/v1/reviews/${record.fingerprint}?project=${encodeURIComponent(project)}`
    : null;
  const { data, reload } = useLive<Review>(path);
  const review = data ?? record.review;
  if (!review || !path) return null;
  return (
    <section aria-labelledby="review">
      <h2 id="review">
        Review <Tag name={review.state} />
      </h2>
      <ReviewForm key={review.state + review.reason} review={review} path={path} onSaved={reload} />
      <p class="muted">
        First seen {ago(review.first_seen)} in <JobLink job={review.first_job} />, last{' '}
        {ago(review.last_seen)} in <JobLink job={review.last_job} />
        {review.jobs !== undefined && `, in ${plural(review.jobs, 'job')}`}.
      </p>
    </section>
  );
}

function JobLink({ job }: { job: string }): JSX.Element {
  return (
    <a class="mono" href={formatRoute(['jobs', job])}>
      {job}
    </a>
  );
}

interface FormProps {
  review: Review;
  path: string;
  onSaved: () => void;
}

function ReviewForm({ review, path, onSaved }: FormProps): JSX.Element {
  const [state, setState] = useState(review.state);
  const [reason, setReason] = useState(review.reason);
  const action = useAction();
  async function save(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    if (await action.run(() => sendJson('PUT', path, { state, reason }))) onSaved();
  }
  return (
    <form class="filters" onSubmit={(event) => void save(event)}>
      <select
        aria-label="Review state"
        value={state}
        onChange={(event) => setState(event.currentTarget.value as ReviewState)}
      >
        {Object.entries(STATES).map(([name, meaning]) => (
          <option key={name} value={name}>
            {name}: {meaning}
          </option>
        ))}
      </select>
      <input
        type="text"
        aria-label="Reason"
        placeholder="Reason"
        maxLength={2000}
        value={reason}
        onInput={(event) => setReason(event.currentTarget.value)}
      />
      <button type="submit">Save</button>
      <Failure action={action} />
    </form>
  );
}

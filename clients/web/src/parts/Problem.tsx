/* Boxes for pages without data: an error, loading, nothing there. */
import type { ComponentChildren, JSX } from 'preact';
import type { ApiError } from '../api/client';

const TITLES: Record<number, string> = {
  0: 'No answer',
  401: 'A token is needed',
  403: 'Not allowed',
  404: 'Not found',
};

/** The error, and what happens next: a retry or a link back. */
export function Problem({ error, what }: { error: ApiError; what: string }): JSX.Element {
  const passing = error.status === 0 || error.status >= 500;
  return (
    <div class="problem" role="alert">
      <h2>{TITLES[error.status] ?? `Error ${error.status}`}</h2>
      <p>
        {what}: {error.message}
      </p>
      <p class="muted">
        {passing ? 'Retrying every few seconds.' : <a href="#/">Back to the jobs</a>}
      </p>
    </div>
  );
}

export function Loading(): JSX.Element {
  return (
    <p class="muted loading" role="status">
      Loading …
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }): JSX.Element {
  return <div class="empty">{children}</div>;
}

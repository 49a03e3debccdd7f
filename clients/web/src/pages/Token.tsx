/* The form for the token that the server requires; the token is kept for this tab only. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { ApiError, getJson } from '../api/client';
import { setToken, token } from '../api/session';

export function Token(): JSX.Element {
  const [refused, setRefused] = useState(!!token());
  const [busy, setBusy] = useState(false);

  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const value = new FormData(event.currentTarget as HTMLFormElement).get('token');
    if (typeof value !== 'string' || !value.trim()) return;
    setBusy(true);
    setToken(value.trim());
    try {
      await getJson('/v1/jobs?limit=1');
    } catch (error) {
      setRefused(error instanceof ApiError && error.status === 401);
    }
    setBusy(false);
  }

  return (
    <main id="main" class="token">
      <h1>A token is needed</h1>
      <p class="muted">
        This server accepts only requests with a token. <code>foretelld token create</code> creates
        one.
      </p>
      <form onSubmit={(event) => void submit(event)}>
        <label>
          Token
          <input name="token" type="password" autocomplete="off" spellcheck={false} required />
        </label>
        <button type="submit" class="primary" disabled={busy}>
          Continue
        </button>
      </form>
      {refused && (
        <p class="problem" role="alert">
          The server does not know this token, or it has expired.
        </p>
      )}
      <p class="muted">The token is kept in this tab until the tab is closed.</p>
    </main>
  );
}

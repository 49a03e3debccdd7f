/* Settings of projects, for administrators: webhooks and limits. */
import type { JSX } from 'preact';
import { Problem } from '../parts/Problem';
import { LimitSection } from '../projects/Limits';
import { WebhookSection } from '../projects/Webhooks';
import { useLive } from '../api/live';
import type { Permissions } from '../api/types';
import { ApiError } from '../api/client';

/** Whether the token in use has the scope admin; null: not known yet. */
export function useIsAdmin(): boolean | null {
  const { data } = useLive<Permissions>('/v1/access');
  return data && (data.open || data.scopes.includes('admin'));
}

const FORBIDDEN = new ApiError(
  403,
  'insufficient-scope',
  'they require a token with the scope admin.',
);

export function Projects(): JSX.Element {
  const admin = useIsAdmin();
  return (
    <main id="main">
      <h1>Projects</h1>
      {admin === false && <Problem error={FORBIDDEN} what="Webhooks and limits" />}
      {admin && <WebhookSection />}
      {admin && <LimitSection />}
    </main>
  );
}

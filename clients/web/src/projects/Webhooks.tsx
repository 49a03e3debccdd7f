/* Webhooks of projects, and their last deliveries. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { sendJson } from '../api/client';
import { useLive } from '../api/live';
import type { Delivery, Webhook } from '../api/types';
import { ago, plural } from '../lib/format';
import { formatRoute } from '../lib/router';
import { CopyButton } from '../parts/CopyButton';
import { Loading, Problem } from '../parts/Problem';
import { Tag } from '../parts/Verdict';
import { Failure, RemoveButton, useAction } from '../parts/Action';

const PATH = '/v1/webhooks';
const POLL_MS = 5000;

export function WebhookSection(): JSX.Element {
  const { data, error, reload } = useLive<{ webhooks: Webhook[] }>(PATH, { every: POLL_MS });
  const [fresh, setFresh] = useState<Webhook | null>(null);
  const action = useAction();

  /** The response has the secret only if this request created it. */
  async function put(body: object): Promise<void> {
    const webhook = (await sendJson('PUT', PATH, body)) as Webhook;
    if (webhook.secret) setFresh(webhook);
    reload();
  }
  const save = (body: object): Promise<boolean> => action.run(() => put(body));
  const remove = (project: string): Promise<boolean> =>
    action.run(async () => {
      await sendJson('DELETE', `${PATH}?project=${encodeURIComponent(project)}`);
      setFresh((old) => (old?.project === project ? null : old));
      reload();
    });

  return (
    <section aria-labelledby="webhooks">
      <h2 id="webhooks">Webhooks</h2>
      <p class="muted">
        When a job of a project ends, the server sends a signed POST to the project’s URL.
      </p>
      {error && !data && <Problem error={error} what="The webhooks" />}
      {!data && !error && <Loading />}
      {fresh?.secret && <Secret webhook={fresh} onDone={() => setFresh(null)} />}
      {!!data?.webhooks.length && (
        <WebhookTable
          webhooks={data.webhooks}
          onRenew={(project) => void save({ project, renew: true })}
          onRemove={(project) => void remove(project)}
        />
      )}
      <WebhookForm onSave={save} />
      <Failure action={action} />
      <Deliveries />
    </section>
  );
}

function Secret({ webhook, onDone }: { webhook: Webhook; onDone: () => void }): JSX.Element {
  const secret = webhook.secret ?? '';
  return (
    <div class="notice" role="status">
      <p>
        The signing secret of <strong>{webhook.project}</strong>. Copy it now: it is not shown
        again.
      </p>
      <p class="toolbar">
        <code class="secret">{secret}</code>
        <CopyButton label="Copy" text={() => secret} />
        <button type="button" onClick={onDone}>
          Done
        </button>
      </p>
    </div>
  );
}

interface TableProps {
  webhooks: Webhook[];
  onRenew: (project: string) => void;
  onRemove: (project: string) => void;
}

function WebhookTable({ webhooks, onRenew, onRemove }: TableProps): JSX.Element {
  return (
    <table class="list">
      <caption class="unseen">Webhooks</caption>
      <thead>
        <tr>
          <th scope="col">Project</th>
          <th scope="col">URL</th>
          <th scope="col" class="right wide">
            Changed
          </th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {webhooks.map(({ project, url, changed }) => (
          <tr key={project}>
            <th scope="row">{project}</th>
            <td class="breaks">
              {url ?? <span class="muted">only for jobs that name a URL</span>}
            </td>
            <td class="right muted wide">{ago(changed)}</td>
            <td class="right actions">
              <button
                type="button"
                aria-label={`New secret for ${project}`}
                onClick={() => onRenew(project)}
              >
                New secret
              </button>
              <RemoveButton what={`the webhook of ${project}`} onRemove={() => onRemove(project)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function WebhookForm({ onSave }: { onSave: (body: object) => Promise<boolean> }): JSX.Element {
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = new FormData(form);
    const project = String(text.get('project')).trim();
    const url = String(text.get('url')).trim() || null;
    if (await onSave({ project, url })) form.reset();
  }
  return (
    <form class="fields" aria-label="Webhook" onSubmit={(event) => void submit(event)}>
      <label>
        Project
        <input type="text" name="project" required maxLength={100} autocomplete="off" />
      </label>
      <label class="long">
        URL
        <input
          type="url"
          name="url"
          maxLength={2048}
          autocomplete="off"
          placeholder="https://… (empty: jobs name a URL)"
        />
      </label>
      <button type="submit">Set webhook</button>
    </form>
  );
}

/* ---- Deliveries ---- */

function Deliveries(): JSX.Element | null {
  const { data, reload } = useLive<{ deliveries: Delivery[] }>('/v1/deliveries?limit=20', {
    every: POLL_MS,
  });
  const action = useAction();
  if (!data?.deliveries.length) return null;
  const repeat = (id: Delivery['delivery']): Promise<boolean> =>
    action.run(async () => {
      await sendJson('POST', `/v1/deliveries/${encodeURIComponent(id)}/repeat`);
      reload();
    });
  return (
    <>
      <h3 class="apart">Last deliveries</h3>
      <table class="list">
        <caption class="unseen">Last deliveries</caption>
        <thead>
          <tr>
            <th scope="col">State</th>
            <th scope="col">Project</th>
            <th scope="col" class="wide">
              Job
            </th>
            <th scope="col">Response</th>
            <th scope="col" class="right wide">
              When
            </th>
            <th scope="col">
              <span class="unseen">Actions</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {data.deliveries.map((one) => (
            <DeliveryRow
              key={one.delivery}
              delivery={one}
              onRepeat={() => void repeat(one.delivery)}
            />
          ))}
        </tbody>
      </table>
      <Failure action={action} />
    </>
  );
}

interface RowProps {
  delivery: Delivery;
  onRepeat: () => void;
}

function DeliveryRow({ delivery, onRepeat }: RowProps): JSX.Element {
  const { job, project, state, attempts, status, error, created, ended } = delivery;
  const answer = [status && `status ${status}`, error].filter(Boolean).join(', ');
  const tries = attempts > 1 ? ` after ${plural(attempts, 'attempt')}` : '';
  return (
    <tr>
      <td>
        <Tag name={state} />
      </td>
      <td>{project}</td>
      <td class="mono wide">
        <a href={formatRoute(['jobs', job])}>{job}</a>
      </td>
      <td class="breaks">{answer && answer + tries}</td>
      <td class="right muted wide">{ago(ended ?? created)}</td>
      <td class="right actions">
        {ended && (
          <button type="button" aria-label={`Repeat the delivery of job ${job}`} onClick={onRepeat}>
            Repeat
          </button>
        )}
      </td>
    </tr>
  );
}

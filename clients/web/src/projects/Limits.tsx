/* Limits of single projects, in place of the defaults that the server's options set. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import { sendJson } from '../api/client';
import { useLive } from '../api/live';
import type { LimitName, LimitPage, Limits } from '../api/types';
import { bytes, count, duration } from '../lib/format';
import { Loading, Problem } from '../parts/Problem';
import { Failure, RemoveButton, useAction } from '../parts/Action';

const PATH = '/v1/limits';

/** `short` follows the value in the table. */
const LIMITS: { name: LimitName; label: string; short: string; bytes?: boolean }[] = [
  { name: 'jobs', label: 'Open jobs', short: 'jobs' },
  { name: 'workers', label: 'Workers at once', short: 'workers' },
  { name: 'bytes', label: 'Bytes of traces', short: 'of traces', bytes: true },
  { name: 'seconds', label: 'Worker seconds per day', short: 'worker seconds per day' },
  { name: 'memory_mb', label: 'MiB per worker', short: 'MiB per worker' },
  { name: 'retain_days', label: 'Days kept', short: 'days kept' },
  { name: 'retain_bytes', label: 'Bytes kept', short: 'kept', bytes: true },
];

function limitText(limits: Limits): string {
  return LIMITS.filter(({ name }) => limits[name] !== null)
    .map(({ name, short, ...limit }) => {
      const value = limits[name] ?? 0;
      if (value === 0) return `${short}: no limit`;
      return `${limit.bytes ? bytes(value) : count(value)} ${short}`;
    })
    .join(', ');
}

export function LimitSection(): JSX.Element {
  const { data, error, reload } = useLive<LimitPage>(PATH, { every: 5000 });
  const [edited, setEdited] = useState<Limits | null>(null);
  const action = useAction();
  const save = (body: object): Promise<boolean> =>
    action.run(async () => {
      await sendJson('PUT', PATH, body);
      setEdited(null);
      reload();
    });
  const remove = (project: string): Promise<boolean> =>
    action.run(async () => {
      await sendJson('DELETE', `${PATH}?project=${encodeURIComponent(project)}`);
      reload();
    });
  return (
    <section aria-labelledby="limits">
      <h2 id="limits">Limits</h2>
      <p class="muted">
        Limits of single projects, in place of the defaults that the server’s options set.
      </p>
      {error && !data && <Problem error={error} what="The limits" />}
      {!data && !error && <Loading />}
      {!!data?.limits.length && (
        <LimitTable
          limits={data.limits}
          onEdit={setEdited}
          onRemove={(project) => void remove(project)}
        />
      )}
      {data && (
        <LimitForm
          key={edited?.project ?? ''}
          edited={edited}
          defaults={data.defaults}
          onSave={save}
        />
      )}
      <Failure action={action} />
    </section>
  );
}

interface TableProps {
  limits: Limits[];
  onEdit: (limits: Limits) => void;
  onRemove: (project: string) => void;
}

function LimitTable({ limits, onEdit, onRemove }: TableProps): JSX.Element {
  return (
    <table class="list">
      <caption class="unseen">Limits</caption>
      <thead>
        <tr>
          <th scope="col">Project</th>
          <th scope="col">Limits</th>
          <th scope="col" class="right wide">
            Worker time today
          </th>
          <th scope="col">
            <span class="unseen">Actions</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {limits.map((one) => {
          const text = limitText(one);
          return (
            <tr key={one.project}>
              <th scope="row">{one.project}</th>
              <td>{text || <span class="muted">the defaults</span>}</td>
              <td class="right num wide">{duration(one.used_ms)}</td>
              <td class="right actions">
                <button
                  type="button"
                  aria-label={`Change the limits of ${one.project}`}
                  onClick={() => onEdit(one)}
                >
                  Change
                </button>
                {text && (
                  <RemoveButton
                    what={`the limits of ${one.project}`}
                    onRemove={() => onRemove(one.project)}
                  />
                )}
              </td>
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

interface FormProps {
  edited: Limits | null;
  defaults: LimitPage['defaults'];
  onSave: (body: object) => Promise<boolean>;
}

function LimitForm({ edited, defaults, onSave }: FormProps): JSX.Element {
  async function submit(event: SubmitEvent): Promise<void> {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const text = new FormData(form);
    const body: Record<string, unknown> = { project: String(text.get('project')).trim() };
    for (const { name } of LIMITS) {
      const value = String(text.get(name)).trim();
      body[name] = value ? Number(value) : null;
    }
    if (await onSave(body)) form.reset();
  }
  return (
    <form class="fields" aria-label="Limits" onSubmit={(event) => void submit(event)}>
      <label>
        Project
        <input
          type="text"
          name="project"
          required
          maxLength={100}
          autocomplete="off"
          defaultValue={edited?.project ?? ''}
        />
      </label>
      {LIMITS.map(({ name, label }) => (
        <label key={name}>
          {label}
          <input
            type="number"
            name={name}
            min="0"
            step="1"
            defaultValue={edited?.[name] ?? ''}
            placeholder={defaults[name] ? count(defaults[name]) : 'no limit'}
          />
        </label>
      ))}
      <button type="submit">Set limits</button>
      <p class="muted">Empty: the default. 0: no limit.</p>
    </form>
  );
}

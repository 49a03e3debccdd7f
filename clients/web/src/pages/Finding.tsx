/* One verdict record: a violation with its schedule, or the proof that a candidate cannot happen. */
import type { JSX } from 'preact';
import type {
  Access,
  Check,
  Frame,
  InputValue,
  Verdict,
  VerdictRecord,
  Waiter,
} from '../api/types';
import { useLive } from '../api/live';
import { hasSchedule } from '../model/schedule';
import { checkName, duration, jobOfFinding, plural } from '../lib/format';
import { formatRoute } from '../lib/router';
import { CopyButton } from '../parts/CopyButton';
import { Loading, Problem } from '../parts/Problem';
import { ReviewBox } from '../parts/ReviewBox';
import { Tag } from '../parts/Verdict';
import { Swimlanes } from '../swimlane/Swimlanes';
import { Fact } from '../parts/Fact';
import { Proof } from './Proof';

function heldBy({ locks, shared = [], gave_up: given }: Access): string {
  if (!locks) return 'its locks are not known';
  const named = locks.map((lock) => (shared.includes(lock) ? `${lock} (for reading)` : lock));
  const held = named.length ? `holding ${named.join(', ')}` : 'holding no lock';
  return given === undefined ? held : `${held}, gave up ${given}`;
}

export function Finding({ id, query }: { id: string; query: Record<string, string> }): JSX.Element {
  const path = `/v1/findings/${encodeURIComponent(id)}`;
  const { data: record, error } = useLive<VerdictRecord>(path);
  if (!record)
    return (
      <main id="main">
        {error ? <Problem error={error} what={`Finding ${id}`} /> : <Loading />}
      </main>
    );
  const job = record.job ?? jobOfFinding(id);
  const step = Number.parseInt(query['step'] ?? '', 10);
  return (
    <main id="main">
      <FindingHead job={job} record={record} />
      <Accesses list={record.accesses ?? []} verdict={record.verdict} />
      <AlsoWaiting list={record.also_waiting ?? []} />
      {record.verdict !== 'violation' && <Proof record={record} />}
      {hasSchedule(record) && (
        <section aria-labelledby="schedule">
          <h2 id="schedule">A schedule that hits it</h2>
          <Inputs list={record.witness.inputs ?? []} />
          <Swimlanes key={id} witness={record.witness} step={Number.isFinite(step) ? step : null} />
        </section>
      )}
      {record.verdict === 'violation' && record.witness && (
        <Reproduce id={id} replay={record.replay} program={!!record.witness?.program} />
      )}
      <ReviewBox record={record} job={job} />
    </main>
  );
}

/** The inputs with which a program comes to it. */
function Inputs({ list }: { list: InputValue[] }): JSX.Element | null {
  if (list.length === 0) return null;
  return (
    <p>
      Inputs:{' '}
      {list.map((input, i) => (
        <>
          {i > 0 && ', '}
          <code key={i}>
            {input.name} = {input.value}
          </code>
        </>
      ))}
    </p>
  );
}

const LEADS: Record<string, string> = {
  safe: 'Cannot happen:',
  bounded: 'Not within the context bound:',
  unknown: 'Not decided:',
  error: 'Not decided:',
};

/** The unit in which `pairs` counts, by check. */
const UNITS: Partial<Record<Check, string>> = { race: 'event pair', atomicity: 'triplet' };

function FindingHead({ job, record }: { job: string; record: VerdictRecord }): JSX.Element {
  const lead = LEADS[record.verdict];
  return (
    <header class="head">
      <p class="crumbs">
        <a href="#/">Jobs</a> / <a href={formatRoute(['jobs', job])}>{job}</a>
      </p>
      <h1>
        {checkName(record.check)} <Tag name={record.status ?? record.verdict} />
      </h1>
      <p class="lead">
        {lead && <b>{lead} </b>}
        {record.message ?? record.name ?? record.key}
      </p>
      <dl class="facts">
        <Fact name="Kind">{record.kind}</Fact>
        {record.object && (
          <Fact name="Object" mono>
            {record.object}
          </Fact>
        )}
        <Fact name="Model">{record.model}</Fact>
        {record.bound !== null && <Fact name="Context bound">{String(record.bound)}</Fact>}
        <Fact name="Covers">{plural(record.pairs, UNITS[record.check] ?? 'event')}</Fact>
        {record.fingerprint && (
          <Fact name="Fingerprint" mono>
            {record.fingerprint}
          </Fact>
        )}
        {record.stats?.['total_ms'] !== undefined && (
          <Fact name="Decided in">{duration(record.stats['total_ms'])}</Fact>
        )}
      </dl>
    </header>
  );
}

/** Whether the source line has more than the access's own text. */
function addsToText({ line, display, text }: Access): boolean {
  return !!line && line.replace(/;$/, '') !== (display ?? text);
}

function Accesses({ list, verdict }: { list: Access[]; verdict: Verdict }): JSX.Element | null {
  if (!list.length) return null;
  return (
    <ol class={`accesses ${verdict}`} aria-label="Accesses">
      {list.map((access) => (
        <li key={access.event}>
          <p>
            <b>{access.thread}</b> <span class="muted">{access.access}</span>
            {access.object && <code>{access.object}</code>}
          </p>
          <pre>{access.display ?? access.text}</pre>
          <p class="mono where">
            {access.location ?? `event ${access.event}`}
            {access.function && <span class="muted"> in {access.function}</span>}
          </p>
          {addsToText(access) && <pre class="source">{access.line}</pre>}
          <p class="muted">{heldBy(access)}</p>
          {access.created && (
            <p class="muted">
              created by {access.created.thread}
              {access.created.location && (
                <>
                  {' at '}
                  <span class="mono">{access.created.location}</span>
                </>
              )}
              {access.created.function && ` in ${access.created.function}`}
              {access.created.stack?.slice(0, 3).map((frame) => (
                <>
                  {', called at '}
                  <span class="mono">{frame.location}</span>
                  {` in ${frame.function ?? '?'}`}
                </>
              ))}
            </p>
          )}
          {!!access.stack?.length && <Stack frames={access.stack} more={access.more_calls ?? 0} />}
        </li>
      ))}
    </ol>
  );
}

/** The other threads that wait at the end of the schedule. */
function AlsoWaiting({ list }: { list: Waiter[] }): JSX.Element | null {
  if (!list.length) return null;
  return (
    <ul class="mono" aria-label="Also waiting">
      {list.map((waiter) => (
        <li key={waiter.event}>
          <span class="muted">also waiting:</span> <b>{waiter.thread}</b> {waiter.text}{' '}
          <span class="muted">
            {waiter.location ?? `event ${waiter.event}`}
            {waiter.function && ` in ${waiter.function}`}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Stack({ frames, more }: { frames: Frame[]; more: number }): JSX.Element {
  return (
    <ol class="stack mono" aria-label="Calls, innermost first">
      {frames.map((frame, i) => (
        <li key={i}>
          {frame.function ?? '?'} <span class="muted">{frame.location}</span>
        </li>
      ))}
      {more > 0 && <li class="muted">and {plural(more, 'more call')}</li>}
    </ol>
  );
}

interface ReproduceProps {
  id: string;
  replay: string | undefined;
  program: boolean;
}

function Reproduce({ id, replay, program }: ReproduceProps): JSX.Element {
  const server = location.origin;
  const verify = program
    ? 'foretell verify witness.json PROGRAM'
    : `foretell witness --server ${server} ${id} | foretell verify --server ${server} -`;
  const fetchIt = `foretell witness --server ${server} ${id} -o witness.json`;
  return (
    <section aria-labelledby="reproduce">
      <h2 id="reproduce">Reproduce</h2>
      <Command label="Save the schedule to a file" text={fetchIt} />
      {replay && (
        <Command
          label="Replay it in the program, in the build that was recorded"
          text={replay.replace('WITNESS TRACE', `--server ${server} witness.json`)}
        />
      )}
      <Command
        label={
          program
            ? 'Execute it once more: the sources, or the program that they were lowered to'
            : 'Verify it with the independent checker'
        }
        text={verify}
      />
    </section>
  );
}

function Command({ label, text }: { label: string; text: string }): JSX.Element {
  return (
    <div class="command">
      <p class="muted">{label}</p>
      <pre tabIndex={0} aria-label={label}>
        {text}
      </pre>
      <CopyButton label="Copy" text={() => text} />
    </div>
  );
}

/* One job: the verdicts of each check, the findings in groups, and the refuted candidates by pass. */
import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Job as JobDocument, PropertyResult, VerdictRecord } from '../api/types';
import { sendJson } from '../api/client';
import { useLive } from '../api/live';
import { useReport } from '../api/report';
import { answerOf, type ContextAnswer, type CoverAnswer } from '../api/answers';
import { groupRecords, matchesRecord, passCounts, passText } from '../model/report';
import { formatRoute, replaceQuery } from '../lib/router';
import { checkName, count, duration, plural, shortHash } from '../lib/format';
import { Failure, useAction } from '../parts/Action';
import { Fact } from '../parts/Fact';
import { Notes } from '../parts/Notes';
import { Empty, Loading, Problem } from '../parts/Problem';
import { ReportFiles } from '../parts/ReportFiles';
import { Context } from './Context';
import { Cover } from './Cover';
import { CountBar, errorText, isEnded, ProgressBar, SubtreeBar, Tag } from '../parts/Verdict';

const POLL_MS = 2000;

export function Job({ id, query }: { id: string; query: Record<string, string> }): JSX.Element {
  const path = `/v1/jobs/${encodeURIComponent(id)}`;
  const {
    data: job,
    error,
    reload,
  } = useLive<JobDocument>(path, {
    every: POLL_MS,
    events: `${path}/events`,
    ended: isEnded,
  });
  const { report, problem } = useReport(path, job?.revision ?? null);
  if (!job)
    return (
      <main id="main">{error ? <Problem error={error} what={`Job ${id}`} /> : <Loading />}</main>
    );
  const findings = report?.findings ?? [];
  const notes = report?.notes ?? [];
  const cover = answerOf<CoverAnswer>(notes, 'cover-answer');
  const context = answerOf<ContextAnswer>(notes, 'context-answer');
  const asks = job.spec?.['kind'] === 'cover' || job.spec?.['kind'] === 'context';
  return (
    <main id="main">
      <JobHead job={job} onCancelled={reload} />
      {job.error && <p class="problem">{errorText(job.error)}</p>}
      <CheckTable job={job} />
      {context && <Context answer={context} />}
      {cover && report && <Cover job={job} answer={cover} report={report} query={query} />}
      <Properties list={report?.properties ?? []} />
      {!asks && <Findings job={job} findings={findings} query={query} loaded={!!report} />}
      {problem && <p class="problem">The report cannot be read: {problem}</p>}
      {!asks && <Records title="Undecided" records={report?.undecided ?? []} />}
      {!asks && <Refuted safe={report?.safe ?? []} partial={!!report?.next} />}
      {!asks && <Notes notes={notes} />}
      {isEnded(job) && <ReportFiles job={job.job} />}
    </main>
  );
}

function JobHead({ job, onCancelled }: { job: JobDocument; onCancelled: () => void }): JSX.Element {
  const end = Date.parse(job.finished ?? job.updated);
  const action = useAction();
  async function cancel(): Promise<void> {
    await action.run(() => sendJson('DELETE', `/v1/jobs/${job.job}`));
    onCancelled();
  }
  return (
    <header class="head">
      <p class="crumbs">
        <a href="#/">Jobs</a>
      </p>
      <h1>
        {job.name ?? job.job} <Tag name={job.state} />
      </h1>
      <dl class="facts">
        <Fact name="Job" mono>
          {job.job}
        </Fact>
        {job.spec?.['program'] ? (
          <Fact name="Program" mono>
            {shortHash(job.trace)}
          </Fact>
        ) : (
          <Fact name="Trace" mono>
            <a href={formatRoute(['traces', job.trace])}>{shortHash(job.trace)}</a>
          </Fact>
        )}
        {job.project && job.project !== 'default' && <Fact name="Project">{job.project}</Fact>}
        <Fact name="Model">{job.model}</Fact>
        {job.bound !== null && <Fact name="Context bound">{String(job.bound)}</Fact>}
        <Fact name="Duration">{duration(end - Date.parse(job.created))}</Fact>
        {job.explored && (
          <Fact name="Explored">{plural(job.explored.classes, 'class', 'classes')}</Fact>
        )}
      </dl>
      {!isEnded(job) && (
        <div class="running">
          {job.explored ? (
            <SubtreeBar explored={job.explored} />
          ) : (
            <ProgressBar progress={job.progress} state={job.state} />
          )}
          <button type="button" onClick={() => void cancel()}>
            Cancel
          </button>
          <Failure action={action} />
        </div>
      )}
    </header>
  );
}

const COLUMNS = ['violation', 'safe', 'bounded', 'unknown', 'error'] as const;

function CheckTable({ job }: { job: JobDocument }): JSX.Element | null {
  const checks = Object.entries(job.checks ?? {});
  if (!checks.length)
    return isEnded(job) ? null : <p class="muted">Counts appear once the job is planned.</p>;
  return (
    <section aria-labelledby="verdicts">
      <h2 id="verdicts">Verdicts</h2>
      <table class="list counts">
        <thead>
          <tr>
            <th scope="col">Check</th>
            <th scope="col" class="bar wide">
              Share
            </th>
            <th scope="col" class="right">
              Candidates
            </th>
            {COLUMNS.map((name) => (
              <th
                key={name}
                scope="col"
                class={`right ${name === 'violation' || name === 'safe' ? '' : 'wide'}`}
              >
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {checks.map(([check, counts]) => (
            <tr key={check} class={counts.candidates ? '' : 'faint'}>
              <th scope="row">{check}</th>
              <td class="bar wide">{counts.candidates > 0 && <CountBar counts={counts} />}</td>
              <td class="right num">{count(counts.candidates)}</td>
              {COLUMNS.map((name) => (
                <td
                  key={name}
                  class={`right num ${counts[name] ? name : 'zero'} ${name === 'violation' || name === 'safe' ? '' : 'wide'}`}
                >
                  {count(counts[name])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Properties({ list }: { list: PropertyResult[] }): JSX.Element | null {
  if (!list.length) return null;
  return (
    <section>
      <h2>Properties</h2>
      <ul class="records">
        {list.map((property) => (
          <li key={property.property}>
            <Tag name={property.verdict} /> {property.name}{' '}
            <span class="muted">{property.kind}</span>
            {property.reason && <p class="muted">{property.reason.text}</p>}
          </li>
        ))}
      </ul>
    </section>
  );
}

interface FindingsProps {
  job: JobDocument;
  findings: VerdictRecord[];
  query: Record<string, string>;
  loaded: boolean;
}

const REVIEWS = ['open', 'confirmed', 'false', 'fixed'];

function Findings({ job, findings, query, loaded }: FindingsProps): JSX.Element {
  const filter = {
    check: query['check'] ?? '',
    text: query['q'] ?? '',
    review: query['review'] ?? '',
  };
  const found = findings.filter((record) => matchesRecord(record, filter));
  const shown = found.filter((record) => !record.apart);
  const apart = found.filter((record) => record.apart);
  const checks = [...new Set(findings.map((record) => record.check))];
  const reviewed = findings.some((record) => record.review);
  return (
    <section aria-labelledby="findings">
      <h2 id="findings">
        Findings <span class="muted">{loaded ? count(findings.length) : ''}</span>
      </h2>
      {findings.length > 1 && (
        <div class="filters" role="search">
          <input
            type="search"
            placeholder="Search file, function, variable, thread"
            aria-label="Search findings"
            value={filter.text}
            onInput={(event) => replaceQuery({ q: event.currentTarget.value })}
          />
          <Choice
            label="Check"
            all="All checks"
            value={filter.check}
            options={checks}
            name="check"
          />
          {reviewed && (
            <Choice
              label="Review"
              all="All reviews"
              value={filter.review}
              options={REVIEWS}
              name="review"
            />
          )}
          <span class="muted" role="status">
            {found.length} of {findings.length}
          </span>
        </div>
      )}
      {loaded && !findings.length && <NoFindings job={job} />}
      {groupRecords(shown).map((group) => (
        <section key={group.place} class="group-card">
          <h3>
            <code>{group.place}</code>
            <span class="muted">{plural(group.records.length, 'finding')}</span>
          </h3>
          <RecordList records={group.records} />
        </section>
      ))}
      {apart.length > 0 && (
        <details>
          <summary>
            {plural(apart.length, 'atomicity violation')} set apart: the observed run had them and
            continued, and no transaction is annotated
          </summary>
          <RecordList records={apart} />
        </details>
      )}
    </section>
  );
}

function Choice(props: {
  label: string;
  all: string;
  value: string;
  options: string[];
  name: string;
}): JSX.Element {
  return (
    <select
      aria-label={props.label}
      value={props.value}
      onChange={(event) => replaceQuery({ [props.name]: event.currentTarget.value })}
    >
      <option value="">{props.all}</option>
      {props.options.map((option) => (
        <option key={option} value={option}>
          {option}
        </option>
      ))}
    </select>
  );
}

function NoFindings({ job }: { job: JobDocument }): JSX.Element {
  if (!isEnded(job)) return <p class="muted">No findings so far.</p>;
  const undecided = Object.values(job.checks ?? {}).some(
    (c) => c.unknown + c.error + c.bounded > 0,
  );
  if (job.state !== 'done' || undecided)
    return <p class="muted">No findings, but some candidates are undecided.</p>;
  return (
    <Empty>
      No reordering of this run’s events reaches a violation: every candidate is refuted.
    </Empty>
  );
}

function RecordList({ records }: { records: VerdictRecord[] }): JSX.Element {
  return (
    <ul class="records">
      {records.map((record) => (
        <li key={record.finding ?? record.key}>
          <a href={formatRoute(['findings', record.finding ?? ''])}>
            <span class="record-kind">
              {checkName(record.check)} <span class="muted">{record.kind}</span>
            </span>
            <span class="record-text">{record.message ?? record.name ?? record.key}</span>
          </a>
          <span class="record-tags">
            {record.status && record.status !== 'predicted' && <Tag name={record.status} />}
            {record.review && record.review.state !== 'open' && <Tag name={record.review.state} />}
            {record.reason && record.verdict !== 'violation' && <Tag name={record.reason.pass} />}
            {record.count > 1 && <span class="muted">{plural(record.count, 'candidate')}</span>}
          </span>
        </li>
      ))}
    </ul>
  );
}

function Records({
  title,
  records,
}: {
  title: string;
  records: VerdictRecord[];
}): JSX.Element | null {
  if (!records.length) return null;
  return (
    <section>
      <h2>
        {title} <span class="muted">{count(records.length)}</span>
      </h2>
      <RecordList records={records} />
    </section>
  );
}

const MOST_SAFE = 100;

function Refuted({
  safe,
  partial,
}: {
  safe: VerdictRecord[];
  partial: boolean;
}): JSX.Element | null {
  const [pass, setPass] = useState('');
  const [most, setMost] = useState(MOST_SAFE);
  if (!safe.length) return null;
  const passes = passCounts(safe);
  const whole = Math.max(...passes.map((entry) => entry.pairs), 1);
  const ofPass = safe.filter(
    (record) => !pass || record.reason?.pass === pass || record.reason?.passes?.[pass],
  );
  return (
    <section aria-labelledby="refuted">
      <h2 id="refuted">Refuted candidates by pass</h2>
      <ul class="passes">
        {passes.map((entry) => (
          <li key={entry.pass}>
            <button
              type="button"
              aria-pressed={pass === entry.pass}
              onClick={() => setPass(pass === entry.pass ? '' : entry.pass)}
            >
              <b>{entry.pass}</b>
              <meter
                min={0}
                max={whole}
                value={entry.pairs}
                aria-label={plural(entry.pairs, 'pair')}
              />
              <span class="num">{plural(entry.pairs, 'pair')}</span>
              <span class="muted">{passText(entry.pass)}</span>
            </button>
          </li>
        ))}
      </ul>
      {partial && <p class="muted">These counts cover the first {count(safe.length)} records.</p>}
      <details open={!!pass}>
        <summary>{plural(ofPass.length, 'candidate')} that cannot happen</summary>
        <RecordList records={ofPass.slice(0, most)} />
        {ofPass.length > most && (
          <button type="button" onClick={() => setMost(most + MOST_SAFE)}>
            Show {MOST_SAFE} more
          </button>
        )}
      </details>
    </section>
  );
}

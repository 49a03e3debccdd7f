/* The answer of a job over covering schedules: certificates with their state, refutations with their
   inputs, and the set: selectors as decision trees, schedules as graphs. */
import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Certificate, CheckRow, CoverAnswer } from '../api/answers';
import type { Job, Report } from '../api/types';
import { type Choice, type Epoch, readSet } from '../model/schedules';
import { count, plural } from '../lib/format';
import { formatRoute, replaceQuery } from '../lib/router';
import { ScheduleGraph } from '../parts/ScheduleGraph';
import { isEnded, Tag } from '../parts/Verdict';

interface CoverProps {
  job: Job;
  answer: CoverAnswer;
  report: Report;
  query: Record<string, string>;
}

export function Cover({ job, answer, report, query }: CoverProps): JSX.Element {
  const set = useMemo(() => readSet(answer.set), [answer.set]);
  return (
    <>
      <Certificates job={job} answer={answer} report={report} />
      <Failed list={answer.failed ?? []} report={report} />
      <section aria-labelledby="set">
        <h2 id="set">
          Schedule set <span class="muted">{plural(set.epochs.length, 'epoch')}</span>
        </h2>
        {answer.counts && <Search counts={answer.counts} open={answer.open} />}
        {set.inputs.length > 0 && (
          <p>
            Inputs:{' '}
            {set.inputs.map((input, i) => (
              <>
                {i > 0 && ', '}
                <code key={input}>{input.split(' ')[1]}</code>{' '}
                <span class="muted">{plural(Number(input.split(' ')[2]), 'bit')}</span>
              </>
            ))}
          </p>
        )}
        {set.markers.length > 0 && (
          <p>
            Epochs end behind{' '}
            {set.markers.map((marker, i) => (
              <>
                {i > 0 && ', '}
                <code key={marker}>{marker}</code>
              </>
            ))}
          </p>
        )}
        {set.epochs.map((epoch) => (
          <EpochView key={epoch.name} epoch={epoch} query={query} />
        ))}
      </section>
    </>
  );
}

function Search({ counts, open }: { counts: Record<string, number>; open: string | undefined }) {
  return (
    <p>
      {plural(counts['schedules'] ?? 0, 'schedule')} for{' '}
      {plural(counts['entries'] ?? 0, 'class', 'classes')} of inputs,{' '}
      {plural(counts['paths'] ?? 0, 'path')} executed.
      {!!counts['open'] &&
        ` Inputs of ${plural(counts['open'], 'class', 'classes')} are not covered: ${open}.`}
    </p>
  );
}

/* ---- certificates ---- */

interface State {
  proved: number;
  refuted: number;
  unknown: number;
}

/** Answers so far, by kind: from the records of the report. */
function statesOf(report: Report): Map<string, State> {
  const states = new Map<string, State>();
  const add = (kind: string, member: keyof State, n: number): void => {
    const state = states.get(kind) ?? { proved: 0, refuted: 0, unknown: 0 };
    state[member] += n;
    states.set(kind, state);
  };
  for (const record of report.safe ?? []) add(record.kind, 'proved', record.count);
  for (const record of report.findings) add(record.kind, 'refuted', record.count);
  for (const record of report.undecided ?? []) add(record.kind, 'unknown', record.count);
  return states;
}

function stateText(row: CheckRow, state: State | undefined): string {
  const parts = state
    ? ([
        [state.proved, 'proved'],
        [state.refuted, 'refuted'],
        [state.unknown, 'unknown'],
      ] as const)
    : [];
  const done = parts.reduce((sum, [n]) => sum + n, 0);
  const words = parts.filter(([n]) => n > 0).map(([n, word]) => `${count(n)} ${word}`);
  if (row.asked > done) words.push(`${count(row.asked - done)} open`);
  return words.join(', ') || 'none asked';
}

function Certificates({ job, answer, report }: Omit<CoverProps, 'query'>): JSX.Element {
  const states = statesOf(report);
  return (
    <section aria-labelledby="certificates">
      <h2 id="certificates">Certificates</h2>
      {isEnded(job) && answer.proved !== undefined && (
        <p class={answer.proved ? '' : 'problem'}>
          {answer.proved
            ? 'All six certificates hold: every input is covered, and what is proved under these schedules holds.'
            : 'Not all six certificates hold: nothing is concluded from the set.'}
        </p>
      )}
      <table class="list">
        <thead>
          <tr>
            <th scope="col">Certificate</th>
            <th scope="col">State</th>
            <th scope="col">Questions</th>
            <th scope="col" class="wide">
              Unsatisfiable is
            </th>
          </tr>
        </thead>
        <tbody>
          {answer.checks.map((row) => (
            <tr key={row.check}>
              <th scope="row">{row.check}</th>
              <td>
                <Tag name={row.answer ?? 'open'} />
              </td>
              <td>{stateText(row, report.next ? undefined : states.get(row.check))}</td>
              <td class="wide muted">{row.meaning}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function inputsText(inputs: Record<string, number> | undefined): string {
  return Object.entries(inputs ?? {})
    .map(([label, value]) => `${label} = ${value}`)
    .join(', ');
}

function Failed({ list, report }: { list: Certificate[]; report: Report }): JSX.Element | null {
  if (!list.length) return null;
  const records = [...report.findings, ...(report.undecided ?? [])];
  const keyOf = (one: Certificate): string =>
    ['certificate', one.check, one.epoch, one.schedule].filter(Boolean).join('|');
  return (
    <section aria-labelledby="failed">
      <h2 id="failed">
        Refuted or unknown <span class="muted">{count(list.length)}</span>
      </h2>
      <ul class="records">
        {list.map((one, i) => {
          const record = records.find(({ key }) => key === keyOf(one));
          const inputs = inputsText(one.inputs);
          return (
            <li key={i}>
              <div class="refutation">
                <p>
                  <b>{one.check}</b> <Tag name={one.answer} />{' '}
                  {one.replayed && <Tag name="executed" />}
                  {one.schedule && (
                    <>
                      {' in schedule '}
                      <button
                        type="button"
                        class="link"
                        onClick={() => showSchedule(one.epoch ?? '', one.schedule ?? '')}
                      >
                        {one.schedule}
                      </button>
                    </>
                  )}
                </p>
                <p>{one.text}</p>
                {inputs && (
                  <p>
                    With <code>{inputs}</code>
                  </p>
                )}
                {record?.finding && (
                  <p>
                    <a href={formatRoute(['findings', record.finding])}>Record and review</a>
                  </p>
                )}
              </div>
            </li>
          );
        })}
      </ul>
    </section>
  );
}

/* ---- the set ---- */

function showSchedule(epoch: string, schedule: string): void {
  replaceQuery({ [`in.${epoch}`]: schedule });
  document.getElementById(`epoch-${epoch}`)?.scrollIntoView();
}

const MOST_SCHEDULES = 200;
const MOST_FACTS = 200;

function EpochView({ epoch, query }: { epoch: Epoch; query: Record<string, string> }): JSX.Element {
  const wanted = query[`in.${epoch.name}`];
  const schedule =
    epoch.schedules.find(({ name }) => name === wanted) ?? epoch.schedules[0] ?? null;
  const shown = epoch.schedules.slice(0, MOST_SCHEDULES);
  const id = `epoch-${epoch.name}`;
  return (
    <section class="group-card epoch" aria-labelledby={id}>
      <h3 id={id}>
        Epoch <code>{epoch.name}</code>{' '}
        <span class="muted">{plural(epoch.schedules.length, 'schedule')}</span>
      </h3>
      <div class="epoch-body">
        {epoch.facts.length > 0 && (
          <details>
            <summary>Where it begins: {plural(epoch.facts.length, 'fact')}</summary>
            <ul class="mono">
              {epoch.facts.slice(0, MOST_FACTS).map((fact) => (
                <li key={fact}>{fact}</li>
              ))}
            </ul>
          </details>
        )}
        {epoch.choice && (
          <>
            <h4>Schedule by input</h4>
            <Selector choice={epoch.choice} epoch={epoch.name} chosen={schedule?.name ?? ''} />
          </>
        )}
        <label>
          Schedule{' '}
          <select
            aria-label={`Schedule of epoch ${epoch.name}`}
            value={schedule?.name ?? ''}
            onChange={(event) => replaceQuery({ [`in.${epoch.name}`]: event.currentTarget.value })}
          >
            {shown.map(({ name, end }) => (
              <option key={name} value={name}>
                {name} ({end})
              </option>
            ))}
            {schedule && !shown.includes(schedule) && (
              <option value={schedule.name}>{schedule.name}</option>
            )}
          </select>
        </label>
        {schedule && (
          <>
            <p>
              {schedule.name}: {END_WORDS[schedule.end] ?? schedule.end}
              {schedule.next && (
                <>
                  {' '}
                  <a href={location.hash} onClick={(event) => scrollTo(event, schedule.next ?? '')}>
                    {schedule.next}
                  </a>
                </>
              )}
              {schedule.binds.length > 0 && (
                <span class="muted">
                  , whose threads {schedule.binds.map((name, i) => `${i} is ${name}`).join(', ')}
                </span>
              )}
              .
            </p>
            <ScheduleGraph schedule={schedule} />
          </>
        )}
      </div>
    </section>
  );
}

function scrollTo(event: Event, epoch: string): void {
  event.preventDefault();
  document.getElementById(`epoch-${epoch}`)?.scrollIntoView();
}

const END_WORDS: Record<string, string> = {
  ended: 'all threads end, or wait for the end of the process',
  exited: 'the process ends',
  failed: 'the process ends with an error',
  blocked: 'threads wait, and none can go on',
  epoch: 'then comes the epoch',
  discarded: 'an assumption does not hold, the run does not count',
};

const MOST_DEPTH = 12;

function Selector(props: {
  choice: Choice;
  epoch: string;
  chosen: string;
  depth?: number;
}): JSX.Element {
  const { choice, epoch, chosen, depth = 0 } = props;
  if ('take' in choice) {
    const { take } = choice;
    if (take === null) return <span class="muted">no schedule covers these inputs</span>;
    return (
      <button
        type="button"
        class="link"
        aria-pressed={take === chosen}
        onClick={() => replaceQuery({ [`in.${epoch}`]: take })}
      >
        {take}
      </button>
    );
  }
  const branches = (
    <ul class="selector">
      <li>
        yes: <Selector choice={choice.yes} epoch={epoch} chosen={chosen} depth={depth + 1} />
      </li>
      <li>
        no: <Selector choice={choice.no} epoch={epoch} chosen={chosen} depth={depth + 1} />
      </li>
    </ul>
  );
  if (depth > 0 && depth % MOST_DEPTH === 0)
    return (
      <details>
        <summary>
          <code>{choice.term}</code>
        </summary>
        {branches}
      </details>
    );
  return (
    <>
      <code>{choice.term}</code>
      {branches}
    </>
  );
}

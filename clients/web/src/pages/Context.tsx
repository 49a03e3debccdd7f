/* The answer of a job over a context: the places, whether threads can be there together, the reason,
   and what is known of the paths from there. */
import type { JSX } from 'preact';
import type { ContextAnswer, ContextPaths, ContextPlace } from '../api/answers';
import { count, plural } from '../lib/format';
import { Tag } from '../parts/Verdict';

function placeText(place: ContextPlace): string {
  return place.file ? `${place.file}:${place.line}` : `@${place.function}:${place.instruction}`;
}

const ANSWERS: Record<string, string> = {
  never: 'In no run, for no input and schedule, are the threads at these places together.',
  reached: 'A run from the program’s entry gets the threads to these places.',
  'not refuted': 'It is not refuted, and no run that was tried got there.',
};

export function Context({ answer }: { answer: ContextAnswer }): JSX.Element {
  return (
    <section aria-labelledby="context">
      <h2 id="context">
        Together: {answer.together} <Tag name={answer.together.replace(' ', '-')} />
      </h2>
      <p>{ANSWERS[answer.together]}</p>
      <Why answer={answer} />
      <table class="list">
        <caption class="muted">
          {answer.others ? 'Other threads may exist.' : 'No other threads exist.'}
        </caption>
        <thead>
          <tr>
            <th scope="col">Thread</th>
            <th scope="col">Is</th>
            <th scope="col">Place</th>
            <th scope="col">Function</th>
          </tr>
        </thead>
        <tbody>
          {answer.threads.map((thread) => (
            <tr key={thread.name}>
              <th scope="row">{thread.name}</th>
              <td>{thread.reading}</td>
              <td class="mono">{[...new Set(thread.places.map(placeText))].join(', ')}</td>
              <td class="mono">
                {[...new Set(thread.places.map((place) => place.function))].join(', ')}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <Replay answer={answer} />
      <Paths paths={answer.fixed_order} order="a fixed order" steps={answer.steps} />
      <Paths paths={answer.every_order} order="every order" steps={answer.steps} />
    </section>
  );
}

function Why({ answer }: { answer: ContextAnswer }): JSX.Element {
  return (
    <>
      {answer.reason && (
        <p>
          <b>Reason:</b> {answer.reason}
          {!!answer.passes?.length && <span class="muted"> ({answer.passes.join(', ')})</span>}
        </p>
      )}
      {answer.assuming && <p class="muted">Assuming that {answer.assuming}.</p>}
      {answer.note && <p class="muted">{answer.note}</p>}
      {answer.together === 'not refuted' && (
        <p class="muted">
          {count(answer.refuted)} of {plural(answer.ways, 'way')} to get there are refuted;{' '}
          {plural(answer.replay_runs ?? 0, 'run')} from the entry did not get there.
        </p>
      )}
      {answer.without.length > 0 && <p class="muted">Left out: {answer.without.join(', ')}.</p>}
    </>
  );
}

function Replay({ answer }: { answer: ContextAnswer }): JSX.Element | null {
  if (!answer.replay) return null;
  const { inputs, steps } = answer.replay;
  return (
    <>
      <h3>A run that gets there</h3>
      {inputs.length > 0 && (
        <p>
          Inputs: <code>{inputs.map(({ name, value }) => `${name} = ${value}`).join(', ')}</code>
        </p>
      )}
      <p>
        Threads in turn: <code>{steps.map(([thread]) => thread).join(' ')}</code>
      </p>
    </>
  );
}

function Paths(props: {
  paths: ContextPaths | undefined;
  order: string;
  steps: number | undefined;
}): JSX.Element | null {
  const { paths, order, steps } = props;
  if (!paths) return null;
  return (
    <p>
      Paths of at most {plural(steps ?? 0, 'branch', 'branches')} from there, threads in {order}:{' '}
      {count(paths.paths)}
      {!paths.complete && ' or more'}, {count(paths.stuck)} of them stuck, {count(paths.failing)}{' '}
      failing
      {paths.failure && `: ${placeText(paths.failure)}: ${paths.failure.message}`}.
    </p>
  );
}

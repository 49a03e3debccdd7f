/* The dialog with the keyboard shortcuts. */
import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

const KEYS: [string, [string, string][]][] = [
  [
    'Everywhere',
    [
      ['g j, g t, g w, g p', 'go to jobs, traces, workers, projects'],
      ['/', 'search'],
      ['?', 'this help'],
    ],
  ],
  [
    'In a schedule',
    [
      ['↓ ↑ or j k', 'next, previous step'],
      ['n p', 'next, previous context switch'],
      ['v', 'go to the violation'],
      ['Home End', 'first, last step'],
      ['+ − 0 1', 'zoom in, out, show all, normal size'],
      ['f', 'fold or unfold long stretches of one thread'],
      ['c', 'collapse or expand the lane of the selected step'],
      ['r', 'show or hide the reads-from arrows'],
    ],
  ],
];

export function Help({ onClose }: { onClose: () => void }): JSX.Element {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} onClose={onClose} aria-labelledby="keys">
      <h2 id="keys">Keyboard shortcuts</h2>
      {KEYS.map(([title, rows]) => (
        <section key={title}>
          <h3>{title}</h3>
          <dl class="keys">
            {rows.map(([key, what]) => (
              <div key={key}>
                <dt>{key}</dt>
                <dd>{what}</dd>
              </div>
            ))}
          </dl>
        </section>
      ))}
      <form method="dialog">
        <button type="submit">Close</button>
      </form>
    </dialog>
  );
}

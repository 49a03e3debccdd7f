/* Assumptions that the trace reader and the worker made. */
import type { JSX } from 'preact';
import type { Note } from '../api/types';
import { Tag } from './Verdict';

export function Notes({ notes }: { notes: Note[] }): JSX.Element | null {
  if (!notes.length) return null;
  return (
    <section>
      <h2>Notes</h2>
      <ul class="notes">
        {notes.map((note, i) => (
          <li key={i}>
            <Tag name={note.code} /> {note.text}
            {note.event !== null && note.event !== undefined && (
              <span class="muted"> event {note.event}</span>
            )}
            {(note.count ?? 1) > 1 && (
              <span class="muted"> and {note.count! - 1} more like it</span>
            )}
          </li>
        ))}
      </ul>
    </section>
  );
}

/* Answers about programs, which are among the notes of a job: docs/records.md, docs/schedules.md and
   docs/contexts.md. */
import type { Note } from './types';

export interface CheckRow {
  check: string;
  meaning: string;
  asked: number;
  needed?: boolean;
  /** Absent until the job has ended. */
  answer?: string;
}

export interface Certificate {
  check: string;
  epoch?: string;
  schedule?: string;
  answer: string;
  text: string;
  replayed: boolean;
  inputs?: Record<string, number>;
  places?: { location: string; function: string }[];
}

export interface CoverAnswer {
  set: string;
  counts?: Record<string, number>;
  open?: string;
  checks: CheckRow[];
  failed?: Certificate[];
  proved?: boolean;
}

export interface ContextPlace {
  function: string;
  instruction: number;
  file?: string;
  line?: number;
}

export interface ContextPaths {
  paths: number;
  stuck: number;
  failing: number;
  complete: boolean;
  failure?: ContextPlace & { message: string };
}

export interface ContextAnswer {
  threads: { name: string; reading: string; places: ContextPlace[] }[];
  others: boolean;
  together: string;
  reason?: string;
  passes?: string[];
  assuming?: string;
  note?: string;
  without: string[];
  ways: number;
  refuted: number;
  replay_runs?: number;
  replay?: { inputs: { name: string; value: number }[]; steps: [number, number][] };
  steps?: number;
  fixed_order?: ContextPaths;
  every_order?: ContextPaths;
}

/** The answer of that code; null: there is none yet, or it cannot be read. */
export function answerOf<T>(notes: Note[], code: string): T | null {
  const text = notes.find((note) => note.code === code)?.text;
  if (text === undefined) return null;
  try {
    return JSON.parse(text) as T;
  } catch {
    return null;
  }
}

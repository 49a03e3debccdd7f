/* Data of a page that stays current: server-sent events where there are any, else polling. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, getJson } from './client';
import { readEvents } from './events';
import { tokenNeeded } from './session';
import { useStore } from '../lib/store';

export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  reload: () => void;
}

export interface LiveOptions<T> {
  /** Milliseconds between polls where no events come; 0: read once. */
  every?: number;
  /** A stream whose every event means: look again. */
  events?: string;
  /** Nothing more will change. */
  ended?: (data: T) => boolean;
}

const RETRY_MS = 3000;
const BURST_MS = 150;

function asApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, 'internal', String(error));
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => (clearTimeout(timer), resolve()), { once: true });
  });
}

/** Whether asking again may help: not where the thing is missing or forbidden. */
function isPassing(error: ApiError): boolean {
  return error.status === 0 || error.status >= 500 || error.status === 429;
}

/** One reader of one path: reads, waits for a reason to look again, reads. */
async function follow<T>(
  path: string,
  options: LiveOptions<T>,
  signal: AbortSignal,
  show: (data: T | null, error: ApiError | null) => void,
): Promise<void> {
  let streams = !!options.events;
  let streaming = false;
  let wake = (): void => undefined;

  async function stream(): Promise<void> {
    streaming = true;
    try {
      streams = await readEvents(options.events ?? '', signal, () => wake());
    } catch {
      // The next poll says what is wrong.
    }
    // A stream that is refused or cut at once must not be asked for again and again.
    if (streams) await pause(RETRY_MS, signal);
    streaming = false;
    wake();
  }

  while (!signal.aborted) {
    let woken = false;
    const event = new Promise<void>((resolve) => {
      wake = () => ((woken = true), resolve());
    });
    if (streams && !streaming) void stream();
    let wait = options.every ?? 0;
    try {
      const data = await getJson<T>(path, signal);
      if (signal.aborted) return;
      show(data, null);
      if (options.ended?.(data)) return;
    } catch (error) {
      if (signal.aborted) return;
      const failure = asApiError(error);
      show(null, failure);
      if (!isPassing(failure)) return;
      wait = RETRY_MS;
    }
    if (!wait) return;
    // With a stream the poll is only a net under it.
    await Promise.race([event, pause(streaming ? wait * 5 : wait, signal)]);
    if (woken) await pause(BURST_MS, signal);
  }
}

export function useLive<T>(path: string | null, options: LiveOptions<T> = {}): Resource<T> {
  const [state, setState] = useState<{
    path: string | null;
    data: T | null;
    error: ApiError | null;
  }>({ path: null, data: null, error: null });
  const [round, setRound] = useState(0);
  const locked = useStore(tokenNeeded);
  const latest = useRef(options);
  latest.current = options;

  useEffect(() => {
    if (!path || locked) return;
    const control = new AbortController();
    const show = (data: T | null, error: ApiError | null): void =>
      setState((old) => ({
        path,
        data: data ?? (old.path === path ? old.data : null),
        error,
      }));
    void follow(path, latest.current, control.signal, show).finally(() => control.abort());
    return () => control.abort();
  }, [path, options.events, options.every, round, locked]);

  const reload = useCallback(() => setRound((n) => n + 1), []);
  const mine = state.path === path;
  return { data: mine ? state.data : null, error: mine ? state.error : null, reload };
}

/* Data that stays up to date: by server-sent events where the server has them, else by polling. */
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
  /** Milliseconds between polls without a stream; 0: read once. */
  every?: number;
  /** A stream; each of its events triggers a read. */
  events?: string;
  /** True: the data will not change any more. */
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

/** Whether a retry may succeed: not if the document is missing or forbidden. */
function isPassing(error: ApiError): boolean {
  return error.status === 0 || error.status >= 500 || error.status === 429;
}

/** Reads a path, waits for an event or the next poll, and reads again. */
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
      // The next poll reports the error.
    }
    // Wait before reopening a stream that was refused or cut at once.
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
    // With a stream, polling is only a fallback.
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

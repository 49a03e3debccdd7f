/* Requests to the daemon: bearer token, ETags, problem documents. */
import { authorization, connection, tokenNeeded } from './session';

/** A failed request; `status` 0: no response. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface Cached {
  etag: string;
  body: unknown;
}

const MOST_CACHED = 200;
const cache = new Map<string, Cached>();

function remember(path: string, etag: string, body: unknown): void {
  cache.delete(path);
  cache.set(path, { etag, body });
  const oldest = cache.keys().next();
  if (cache.size > MOST_CACHED && !oldest.done) cache.delete(oldest.value);
}

export async function send(path: string, init: RequestInit = {}): Promise<Response> {
  const headers = { ...authorization(), ...(init.headers as Record<string, string> | undefined) };
  let response: Response;
  try {
    response = await fetch(path, { ...init, headers, cache: 'no-store' });
  } catch (error) {
    if (init.signal?.aborted) throw error;
    connection.set('gone');
    throw new ApiError(0, 'unreachable', 'The server does not answer.');
  }
  connection.set('ok');
  if (response.status === 401) tokenNeeded.set(true);
  return response;
}

export async function problemOf(response: Response): Promise<ApiError> {
  const fallback = new ApiError(
    response.status,
    'http',
    `The server responded with status ${response.status}.`,
  );
  try {
    const body = (await response.json()) as { detail?: string; code?: string };
    return new ApiError(response.status, body.code ?? 'http', body.detail ?? fallback.message);
  } catch {
    return fallback;
  }
}

/** GETs JSON. A document that has not changed is the same object again. */
export async function getJson<T>(path: string, signal?: AbortSignal): Promise<T> {
  const known = cache.get(path);
  const headers: Record<string, string> = { Accept: 'application/json' };
  if (known) headers['If-None-Match'] = known.etag;
  const response = await send(path, { headers, ...(signal ? { signal } : {}) });
  if (response.status === 304 && known) return known.body as T;
  if (!response.ok) throw await problemOf(response);
  const body = (await response.json()) as T;
  const etag = response.headers.get('ETag');
  if (etag) remember(path, etag, body);
  return body;
}

/** Sends JSON (or nothing) and returns the JSON of the response; null: an empty response. */
export async function sendJson(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await send(path, {
    method,
    headers: { 'Content-Type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw await problemOf(response);
  const text = await response.text();
  return text ? (JSON.parse(text) as unknown) : null;
}

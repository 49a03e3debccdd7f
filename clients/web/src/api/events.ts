/* Server-sent events over fetch, which can carry a bearer token where EventSource cannot. */
import { send } from './client';

export interface ServerEvent {
  event: string;
  data: string;
  id: string | null;
}

/** Takes the pieces of a stream; returns the events that each piece completes. */
export function createEventParser(): (chunk: string) => ServerEvent[] {
  let rest = '';
  let event = '';
  let id: string | null = null;
  let data: string[] = [];

  function line(text: string, out: ServerEvent[]): void {
    if (text === '') {
      if (data.length) out.push({ event: event || 'message', data: data.join('\n'), id });
      event = '';
      data = [];
      return;
    }
    const colon = text.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? text : text.slice(0, colon);
    const value = colon < 0 ? '' : text.slice(colon + 1).replace(/^ /, '');
    if (field === 'event') event = value;
    else if (field === 'data') data.push(value);
    else if (field === 'id') id = value;
  }

  return (chunk) => {
    const out: ServerEvent[] = [];
    rest += chunk;
    // A lone CR at the end may be half of a CRLF: it waits for the next piece.
    const lines = rest.split(/\r\n|\n|\r(?!$)/);
    rest = lines.pop() ?? '';
    for (const text of lines) line(text, out);
    return out;
  };
}

/**
 * Reads events until the stream ends or the signal aborts. False: the server has no such stream;
 * do not retry.
 */
export async function readEvents(
  path: string,
  signal: AbortSignal,
  on: (event: ServerEvent) => void,
): Promise<boolean> {
  const response = await send(path, { headers: { Accept: 'text/event-stream' }, signal });
  const type = response.headers.get('Content-Type') ?? '';
  if (!response.ok || !response.body || !type.startsWith('text/event-stream')) {
    await response.body?.cancel();
    return response.status >= 500;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parse = createEventParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return true;
    for (const event of parse(value)) on(event);
  }
}

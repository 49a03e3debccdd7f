/* Routes: the part of the address after `#`, so that every place of the one page has a link. */
import { useEffect, useState } from 'preact/hooks';

export interface Route {
  path: string[];
  query: Record<string, string>;
}

export function parseRoute(hash: string): Route {
  const [path = '', query = ''] = hash.replace(/^#\/?/, '').split('?', 2);
  return {
    path: path.split('/').filter(Boolean).map(decodeSegment),
    query: Object.fromEntries(new URLSearchParams(query)),
  };
}

function decodeSegment(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function formatRoute(
  path: string[],
  query: Record<string, string | undefined> = {},
): string {
  const set = Object.entries(query).filter((pair): pair is [string, string] => !!pair[1]);
  const tail = new URLSearchParams(set).toString();
  return `#/${path.map(encodeURIComponent).join('/')}${tail ? `?${tail}` : ''}`;
}

export function useRoute(): Route {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const update = (): void => setRoute(parseRoute(location.hash));
    addEventListener('hashchange', update);
    return () => removeEventListener('hashchange', update);
  }, []);
  return route;
}

export function navigate(hash: string): void {
  location.hash = hash;
}

/** Changes the query without a new entry in the history. */
export function replaceQuery(changes: Record<string, string | undefined>): void {
  const { path, query } = parseRoute(location.hash);
  const hash = formatRoute(path, { ...query, ...changes });
  if (hash === location.hash) return;
  history.replaceState(null, '', hash);
  dispatchEvent(new HashChangeEvent('hashchange'));
}

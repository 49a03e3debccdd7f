/* The bearer token of this tab, and whether the server requires one or is unreachable. */
import { createStore } from '../lib/store';

const KEY = 'foretell-token';

export type Connection = 'ok' | 'gone';

export const tokenNeeded = createStore(false);
export const connection = createStore<Connection>('ok');

export function token(): string | null {
  return sessionStorage.getItem(KEY);
}

export function setToken(value: string): void {
  sessionStorage.setItem(KEY, value);
  tokenNeeded.set(false);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
  tokenNeeded.set(true);
}

export function authorization(): Record<string, string> {
  const value = token();
  return value ? { Authorization: `Bearer ${value}` } : {};
}

/* The colour theme: light, dark, or that of the system. */
import { createStore } from './store';

export type Theme = 'auto' | 'light' | 'dark';

const KEY = 'foretell-theme';
const NEXT: Record<Theme, Theme> = { auto: 'light', light: 'dark', dark: 'auto' };

function stored(): Theme {
  const value = localStorage.getItem(KEY);
  return value === 'light' || value === 'dark' ? value : 'auto';
}

export const theme = createStore<Theme>(stored());

function apply(value: Theme): void {
  document.documentElement.dataset['theme'] = value;
}

apply(theme.get());
theme.watch(apply);

export function nextTheme(): void {
  const value = NEXT[theme.get()];
  localStorage.setItem(KEY, value);
  theme.set(value);
}

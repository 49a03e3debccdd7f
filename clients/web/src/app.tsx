/* The frame of every page: navigation, theme, keys, the state of the connection. */
import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { connection, forgetToken, token, tokenNeeded } from './api/session';
import { useStore } from './lib/store';
import type { Route } from './lib/router';
import { navigate, useRoute } from './lib/router';
import { nextTheme, theme } from './lib/theme';
import { Finding } from './pages/Finding';
import { Job } from './pages/Job';
import { Jobs } from './pages/Jobs';
import { Projects, useIsAdmin } from './pages/Projects';
import { System } from './pages/System';
import { Token } from './pages/Token';
import { Trace } from './pages/Trace';
import { Traces } from './pages/Traces';
import { Help } from './parts/Help';

interface Page {
  title: (id: string) => string;
  show: (id: string, query: Record<string, string>) => JSX.Element;
}

const PAGES: Record<string, Page> = {
  '': { title: () => 'Jobs', show: (_id, query) => <Jobs query={query} /> },
  'jobs/': { title: (id) => `Job ${id}`, show: (id, query) => <Job id={id} query={query} /> },
  'findings/': {
    title: (id) => `Finding ${id}`,
    show: (id, query) => <Finding id={id} query={query} />,
  },
  traces: { title: () => 'Traces', show: () => <Traces /> },
  'traces/': { title: (id) => `Trace ${id.slice(0, 10)}`, show: (id) => <Trace hash={id} /> },
  system: { title: () => 'Workers', show: () => <System /> },
  projects: { title: () => 'Projects', show: () => <Projects /> },
};

const LINKS = [
  { name: 'Jobs', href: '#/', of: ['', 'jobs', 'findings'] },
  { name: 'Traces', href: '#/traces', of: ['traces'] },
  { name: 'Workers', href: '#/system', of: ['system'] },
  { name: 'Projects', href: '#/projects', of: ['projects'], admin: true },
];

function pageOf({ path }: Route): Page | undefined {
  const [first = '', second] = path;
  return path.length > 2 ? undefined : PAGES[second === undefined ? first : `${first}/`];
}

export function App(): JSX.Element {
  const route = useRoute();
  const locked = useStore(tokenNeeded);
  const [help, setHelp] = useState(false);
  const page = pageOf(route);
  const id = route.path[1] ?? '';
  const title = locked ? 'Token' : (page?.title(id) ?? 'Not found');

  useGlobalKeys(() => setHelp(true));
  useEffect(() => {
    document.title = `${title} – Foretell`;
  }, [title]);
  useFocusOnPage(route.path.join('/'));

  return (
    <>
      <a
        class="skip"
        href="#main"
        onClick={(event) => {
          event.preventDefault();
          focusMain();
        }}
      >
        Skip to content
      </a>
      <TopBar first={route.path[0] ?? ''} onHelp={() => setHelp(true)} />
      <Gone />
      {locked ? <Token /> : (page?.show(id, route.query) ?? <NotFound />)}
      {help && <Help onClose={() => setHelp(false)} />}
    </>
  );
}

function focusMain(): void {
  const main = document.getElementById('main');
  main?.setAttribute('tabindex', '-1');
  main?.focus();
}

/** Moves the focus to the new page, so that a screen reader starts there as after a page load. */
function useFocusOnPage(path: string): void {
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) {
      focusMain();
      scrollTo(0, 0);
    }
    first.current = false;
  }, [path]);
}

const GO: Record<string, string> = { j: '#/', t: '#/traces', w: '#/system', p: '#/projects' };

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('input, select, textarea');
}

function focusSearch(): void {
  document.querySelector<HTMLInputElement>('input[type=search]')?.focus();
}

function useGlobalKeys(showHelp: () => void): void {
  useEffect(() => {
    let going = false;
    const actions: Record<string, () => void> = {
      '?': showHelp,
      '/': focusSearch,
      g: () => (going = true),
    };
    function press(event: KeyboardEvent): void {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.defaultPrevented || isTyping(event.target)) return;
      const target = going ? GO[event.key] : undefined;
      going = false;
      const action = actions[event.key];
      if (target) navigate(target);
      else if (action) action();
      else return;
      event.preventDefault();
    }
    addEventListener('keydown', press);
    return () => removeEventListener('keydown', press);
  }, []);
}

const THEME_NAMES = { auto: 'Auto', light: 'Light', dark: 'Dark' } as const;

function TopBar({ first, onHelp }: { first: string; onHelp: () => void }): JSX.Element {
  const scheme = useStore(theme);
  const admin = useIsAdmin();
  return (
    <header class="top">
      <a class="brand" href="#/">
        Foretell
      </a>
      <nav aria-label="Pages">
        {LINKS.filter((link) => admin || !link.admin).map((link) => (
          <a
            key={link.href}
            href={link.href}
            {...(link.of.includes(first) ? { 'aria-current': 'page' } : {})}
          >
            {link.name}
          </a>
        ))}
      </nav>
      <span class="grow" />
      {token() && (
        <button type="button" class="plain" onClick={forgetToken}>
          Forget token
        </button>
      )}
      <button
        type="button"
        class="plain"
        aria-label={`Theme: ${THEME_NAMES[scheme]}`}
        onClick={nextTheme}
      >
        {THEME_NAMES[scheme]}
      </button>
      <button
        type="button"
        class="plain"
        aria-label="Keyboard shortcuts"
        title="Keyboard shortcuts (?)"
        onClick={onHelp}
      >
        ?
      </button>
    </header>
  );
}

function Gone(): JSX.Element {
  const state = useStore(connection);
  return (
    <div class="gone" role="status">
      {state === 'gone' && 'The server does not answer. This page may be out of date; retrying.'}
    </div>
  );
}

function NotFound(): JSX.Element {
  return (
    <main id="main">
      <div class="problem" role="alert">
        <h2>Not found</h2>
        <p>
          This page does not exist. <a href="#/">Back to the jobs</a>
        </p>
      </div>
    </main>
  );
}

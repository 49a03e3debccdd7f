/* Every page against a real daemon: what it shows, accessibility, phone width, security policy. */
import { accessibilityFindings, EXAMPLES, expect, overflow, type Service, test } from './fixture';
import type { Page } from '@playwright/test';
import { example } from './daemon';

interface PageCase {
  name: string;
  hash: (service: Service) => Promise<string>;
  shows: (page: Page) => Promise<void>;
}

const isSafeBy = (pass: string) => (record: { verdict: string; reason?: { pass: string } }) =>
  record.verdict === 'safe' && record.reason?.pass === pass;

async function findingHash(
  service: Service,
  job: string,
  wanted: Parameters<Service['record']>[1],
): Promise<string> {
  return `#/findings/${(await service.record(job, wanted)).finding}`;
}

/** Two threads that add to each other's variable under a lock, and the least bound that holds. */
function rounds(n: number): string {
  const lines: object[] = [
    {
      ...{ format: 'foretell', version: 1, name: 'rounds', threads: ['M', 'a', 'b'] },
      variables: { i: { sort: 'Int', init: 1 }, j: { sort: 'Int', init: 1 } },
      locals: { own: { sort: 'Int', init: 0 }, other: { sort: 'Int', init: 0 } },
      locks: { L: 'mutex' },
    },
    { thread: 'M', kind: 'fork', child: 'a' },
    { thread: 'M', kind: 'fork', child: 'b' },
  ];
  let [before, bound] = [1, 1];
  for (const [thread, own, other] of [
    ['a', 'i', 'j'],
    ['b', 'j', 'i'],
  ] as const)
    for (let k = 0; k < n; k++) {
      lines.push({ thread, kind: 'acquire', lock: 'L' });
      lines.push({ thread, kind: 'assign', set: { other } });
      lines.push({ thread, kind: 'assign', set: { own } });
      lines.push({ thread, kind: 'assign', set: { [own]: '(+ own other)' } });
      lines.push({ thread, kind: 'release', lock: 'L' });
      [before, bound] = [bound, before + bound];
    }
  lines.push({ thread: 'M', kind: 'join', child: 'a' }, { thread: 'M', kind: 'join', child: 'b' });
  lines.push({ thread: 'M', kind: 'assert', term: `(<= i ${bound})`, loc: 'rounds.c:9' });
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

const PAGES: PageCase[] = [
  {
    name: 'jobs',
    hash: async () => '#/',
    async shows(page) {
      for (const name of EXAMPLES) await expect(page.getByRole('link', { name })).toBeVisible();
      await expect(page.getByRole('row', { name: /^bank/ })).toContainText('done');
      await expect(page.getByRole('row', { name: /^bank/ }).locator('.violation')).toHaveText('2');
    },
  },
  {
    name: 'job',
    hash: async ({ jobs }) => `#/jobs/${jobs['bank']}`,
    async shows(page) {
      await expect(page.getByRole('row', { name: /^race/ })).toContainText('8');
      await expect(page.getByRole('row', { name: /^assertion/ })).toContainText('1');
      await expect(page.getByRole('link', { name: /assert\(sum == 150\)/ })).toBeVisible();
      await expect(page.getByRole('button', { name: /^lockset/ })).toBeVisible();
      await expect(page.getByRole('button', { name: /^must-happen-before/ })).toBeVisible();
    },
  },
  {
    name: 'finding',
    hash: (service) => findingHash(service, 'bank', ({ check }) => check === 'assertion'),
    async shows(page) {
      await expect(page.getByRole('heading', { name: /Assertion failure/ })).toBeVisible();
      await expect(page.getByRole('listbox', { name: /Predicted/ })).toBeVisible();
      await expect(page.getByRole('listbox', { name: /Observed/ })).toBeVisible();
      await expect(
        page.getByText(/read checking = 70 at bank.c:13; in this schedule it reads 100/),
      ).toBeVisible();
    },
  },
  {
    name: 'deadlock',
    hash: (service) => findingHash(service, 'deadlock', ({ check }) => check === 'deadlock'),
    async shows(page) {
      await expect(page.getByText(/T1 waits for B/)).toBeVisible();
      await expect(page.getByRole('list', { name: 'Accesses' })).toContainText('holding A');
    },
  },
  {
    name: 'safe by lockset',
    hash: (service) => findingHash(service, 'bank', isSafeBy('lockset')),
    async shows(page) {
      await expect(page.getByText('Cannot happen:')).toBeVisible();
      await expect(page.getByText(/bank is held at bank.c:\d+ and bank.c:\d+/)).toBeVisible();
    },
  },
  {
    name: 'safe by order',
    hash: (service) => findingHash(service, 'bank', isSafeBy('must-happen-before')),
    async shows(page) {
      await expect(page.getByText(/fork, join, hard edges/)).toBeVisible();
    },
  },
  {
    name: 'safe by causality',
    hash: (service) => findingHash(service, 'fig9b', isSafeBy('causality')),
    async shows(page) {
      await expect(page.getByRole('img', { name: /come before the next one/ })).toBeVisible();
      await expect(page.locator('.cycle-node')).toHaveCount(3);
      await expect(page.locator('.cycle-words')).toContainText('comes before the first');
    },
  },
  {
    name: 'safe by unsat',
    hash: (service) => findingHash(service, 'fig9a', isSafeBy('unsat')),
    async shows(page) {
      await expect(page.getByText(/no schedule reaches it/)).toBeVisible();
    },
  },
  {
    name: 'traces',
    hash: async () => '#/traces',
    async shows(page) {
      const rows = page.getByRole('row');
      await expect.poll(() => rows.count()).toBeGreaterThan(EXAMPLES.length);
      await expect(rows.filter({ hasText: 'ndjson' }).filter({ hasText: 'ctp' })).not.toHaveCount(
        0,
      );
    },
  },
  {
    name: 'trace',
    async hash({ daemon, jobs }) {
      const { trace } = await daemon.json<{ trace: string }>(`/v1/jobs/${jobs['bank']}`);
      return `#/traces/${trace}`;
    },
    async shows(page) {
      await expect(page.getByText('observed, maximal, ctp, control')).toBeVisible();
      await expect(page.getByRole('link', { name: 'bank' })).toBeVisible();
      await expect(page.getByRole('table', { name: /Hot variables/ })).toContainText('checking');
      await expect(page.getByRole('table', { name: /Threads/ })).toContainText('alice');
      await expect(page.getByRole('img', { name: /Events of 3 threads/ })).toBeVisible();
    },
  },
  {
    name: 'ranges of a trace',
    async hash({ daemon }) {
      const job = await daemon.run(example('intervals'), { name: 'intervals' });
      const { trace } = await daemon.json<{ trace: string }>(`/v1/jobs/${job}`);
      return `#/traces/${trace}`;
    },
    async shows(page) {
      await page.getByRole('button', { name: 'Compute the ranges' }).click();
      const graph = page.getByRole('img', { name: 'The graph of feasible transactions' });
      await expect(graph).toBeVisible();
      for (const node of ['1a', '5a', 'Ja', '1b', '2b', '6b', 'Jb'])
        await expect(graph.getByText(node, { exact: true })).toBeVisible();
      await expect(graph.locator('circle')).toHaveCount(7);
      await expect(graph.locator('line')).toHaveCount(5);
      await expect(graph.locator('path')).toHaveCount(8);
      await expect(graph.locator('path title', { hasText: /^switch from Jb to 5a$/ })).toHaveCount(
        1,
      );
      const figures = page.getByRole('table', { name: /Graphs/ });
      await expect(figures.getByRole('row', { name: /^Every step/ })).toContainText(/13.*11.*30/);
      await expect(figures.getByRole('row', { name: /^Feasible/ })).toContainText(/7.*5.*8.*6.*43/);
      const events = page.getByRole('table', { name: /Ranges of events/ });
      await expect(events.getByRole('row', { name: /Y := \(\+ b1 b2\)/ })).toContainText('Y [1,5]');
    },
  },
  {
    name: 'safe by interval',
    async hash(service) {
      const job = await service.daemon.run(rounds(5), { name: 'rounds' });
      return findingHash(service, job, isSafeBy('interval'));
    },
    async shows(page) {
      await expect(page.getByText('Cannot happen:')).toBeVisible();
      await expect(page.getByText(/i in \[\d+,144\]/)).toBeVisible();
    },
  },
  {
    name: 'workers',
    hash: async () => '#/system',
    async shows(page) {
      await expect(page.getByRole('cell', { name: /solve/ })).toHaveCount(1);
      await expect(page.locator('.uplot').first()).toBeVisible();
    },
  },
];

for (const { name, hash, shows } of PAGES)
  test(`page: ${name}`, async ({ page, service }) => {
    const foreign: string[] = [];
    page.on('request', (request) => {
      if (!request.url().startsWith(service.daemon.url)) foreign.push(request.url());
    });
    await page.goto(`${service.daemon.url}/${await hash(service)}`);
    await shows(page);
    expect(await accessibilityFindings(page), 'light').toEqual([]);
    await page.emulateMedia({ colorScheme: 'dark' });
    expect(await accessibilityFindings(page, ['color-contrast']), 'dark').toEqual([]);
    await page.setViewportSize({ width: 375, height: 700 });
    await expect.poll(() => overflow(page), 'wider than a phone').toBeLessThanOrEqual(0);
    expect(foreign, 'requests to elsewhere').toEqual([]);
  });

test('the policy allows nothing inline and nothing from elsewhere', async ({
  page,
  service,
  errors,
}) => {
  const answer = await page.goto(`${service.daemon.url}/`);
  const policy = answer?.headers()['content-security-policy'] ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).not.toContain('unsafe');
  // The policy is in force: an inline script does not run.
  const ran = await page.evaluate(() => {
    const script = document.createElement('script');
    script.textContent = 'document.title = "ran"';
    document.head.append(script);
    return document.title === 'ran';
  });
  expect(ran).toBe(false);
  expect(errors.splice(0).join()).toMatch(/inline script/);
});

test('the theme changes and stays', async ({ page, service }) => {
  await page.goto(`${service.daemon.url}/`);
  const background = (): Promise<string> =>
    page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await background();
  await page.getByRole('button', { name: 'Theme: Auto' }).click();
  await page.getByRole('button', { name: 'Theme: Light' }).click();
  await expect(page.getByRole('button', { name: 'Theme: Dark' })).toBeVisible();
  expect(await background()).not.toBe(light);
  const dark = await background();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Theme: Dark' })).toBeVisible();
  expect(await background()).toBe(dark);
});

/* Makes the pictures of docs/images: tests/web/run --screenshots. */
import { statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from '@playwright/test';
import { expect, type Service, test } from './fixture';
import { example, pingPong } from './daemon';

const FOLDER = fileURLToPath(new URL('../../docs/images/', import.meta.url));
const MOST_BYTES = 150_000;

interface Picture {
  name: string;
  hash: (service: Service) => Promise<string>;
  ready: (page: Page) => Promise<void>;
  dark?: boolean;
  width?: number;
  height?: number;
}

const bankFinding = async (service: Service, step: string): Promise<string> => {
  const { finding } = await service.record('bank', ({ check }) => check === 'assertion');
  return `#/findings/${finding}${step}`;
};

/** The lanes in the middle of the window. */
async function showLanes(page: Page): Promise<void> {
  await expect(page.getByRole('listbox').first()).toBeVisible();
  await page.locator('.toolbar').evaluate((bar) => bar.scrollIntoView());
  await page.evaluate(() => scrollBy(0, -16));
}

const PICTURES: Picture[] = [
  {
    name: 'jobs',
    hash: async () => '#/',
    ready: async (page) => expect(page.getByRole('link', { name: 'bank' })).toBeVisible(),
    height: 560,
  },
  {
    name: 'job',
    hash: async ({ jobs }) => `#/jobs/${jobs['bank']}`,
    ready: async (page) => expect(page.getByRole('button', { name: /^lockset/ })).toBeVisible(),
    height: 980,
  },
  {
    name: 'finding',
    hash: (service) => bankFinding(service, '?step=15'),
    ready: async (page) => expect(page.getByRole('listbox').first()).toBeVisible(),
    width: 1280,
    height: 928,
  },
  {
    name: 'finding-dark',
    hash: (service) => bankFinding(service, '?step=18'),
    ready: showLanes,
    dark: true,
    width: 1360,
    height: 760,
  },
  {
    name: 'finding-phone',
    hash: (service) => bankFinding(service, '?step=18'),
    async ready(page) {
      await showLanes(page);
      await page.getByRole('button', { name: 'Lane of thread main' }).first().click();
      await page.mouse.move(0, 0);
    },
    width: 390,
    height: 844,
  },
  {
    name: 'proof',
    async hash(service) {
      const { finding } = await service.record(
        'fig9b',
        ({ reason }) => reason?.pass === 'causality',
      );
      return `#/findings/${finding}`;
    },
    ready: async (page) => expect(page.locator('.cycle-node')).toHaveCount(3),
    height: 840,
  },
  {
    name: 'trace',
    async hash({ daemon, jobs }) {
      const { trace } = await daemon.json<{ trace: string }>(`/v1/jobs/${jobs['bank']}`);
      return `#/traces/${trace}`;
    },
    ready: async (page) => expect(page.locator('.timeline')).toBeVisible(),
    height: 900,
  },
  {
    name: 'workers',
    async hash({ daemon }) {
      for (let i = 0; i < 4; i++) await daemon.run(pingPong(4000 + i));
      await daemon.run(example('fig1'));
      return '#/system';
    },
    ready: async (page) => expect(page.locator('.uplot')).toHaveCount(4),
    dark: true,
    height: 780,
  },
];

for (const { name, hash, ready, dark, width, height } of PICTURES)
  test(name, async ({ page, service }) => {
    await page.setViewportSize({ width: width ?? 1280, height: height ?? 800 });
    await page.emulateMedia({ colorScheme: dark ? 'dark' : 'light' });
    await page.goto(`${service.daemon.url}/${await hash(service)}`);
    await ready(page);
    const path = `${FOLDER}${name}.png`;
    await page.screenshot({ path, animations: 'disabled' });
    expect(statSync(path).size).toBeLessThan(MOST_BYTES);
  });

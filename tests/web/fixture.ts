/* The fixtures of every test: a daemon with the examples' jobs, a page whose errors fail the test. */
import { test as base, expect, type Page } from '@playwright/test';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Daemon, example, type RecordBrief } from './daemon';

export { expect };

export const EXAMPLES = ['bank', 'fig5', 'fig9a', 'fig9b', 'deadlock', 'rwlock'] as const;

export interface Service {
  daemon: Daemon;
  jobs: Record<string, string>;
  /** The first record of a job for which `wanted` is true. */
  record: (job: string, wanted: (record: RecordBrief) => boolean) => Promise<RecordBrief>;
}

async function startService(): Promise<Service> {
  const daemon = await Daemon.start('--workers', '1', '--sample-ms', '200');
  const jobs: Record<string, string> = {};
  for (const name of EXAMPLES) jobs[name] = await daemon.run(example(name), { name });
  return {
    daemon,
    jobs,
    async record(job, wanted) {
      const report = await daemon.report(jobs[job] ?? job);
      const found = [...report.findings, ...report.safe].find(wanted);
      if (!found) throw new Error(`job ${job} has no such record`);
      return found;
    },
  };
}

/** Failed requests that a test provokes are not errors of the page. */
const PROVOKED = /Failed to load resource/;

export const test = base.extend<{ errors: string[] }, { service: Service }>({
  service: [
    async ({}, use) => {
      const service = await startService();
      await use(service);
      await service.daemon.stop();
    },
    { scope: 'worker' },
  ],
  errors: [
    async ({ page }, use) => {
      const errors: string[] = [];
      page.on('pageerror', (error) => errors.push(error.message));
      page.on('console', (message) => {
        const text = message.text();
        if (message.type() === 'error' && !PROVOKED.test(text)) errors.push(text);
      });
      await use(errors);
      expect(errors, 'errors and policy violations on the page').toEqual([]);
    },
    { auto: true },
  ],
});

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeWindow {
  axe: {
    run: (options: object) => Promise<{
      violations: { id: string; impact: string; nodes: { html: string }[] }[];
    }>;
  };
}

/**
 * Serious and critical findings of axe, of all its rules or those named, as text. axe is evaluated
 * by the debugger, because the page's policy allows no other scripts.
 */
export async function accessibilityFindings(page: Page, rules?: string[]): Promise<string[]> {
  const session = await page.context().newCDPSession(page);
  await session.send('Runtime.evaluate', { expression: AXE });
  await session.detach();
  return page.evaluate(async (only) => {
    const { axe } = window as unknown as AxeWindow;
    const { violations } = await axe.run({
      resultTypes: ['violations'],
      ...(only ? { runOnly: only } : {}),
    });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html}`));
  }, rules);
}

/** The pixels by which the page is wider than its window. */
export function overflow(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
}

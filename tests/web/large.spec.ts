/* A witness of 100,000 events stays smooth: a frame costs the page's thread less than a thirtieth of a
 * second of processor time, also on a busy machine. */
import type { CDPSession, Locator, Page } from '@playwright/test';
import { expect, test } from './fixture';
import { pingPong } from './daemon';

const ROUNDS = 25_000;
const STEPS = 4 * ROUNDS + 2;
/** The time to load so much on a busy machine. */
const LARGE_MS = 40_000;
test.describe.configure({ timeout: 120_000 });

/** Frames while something happens: how many a second, and the longest pause between two. */
interface Drawn {
  count: number;
  perSecond: number;
  longest: number;
}

/** The same, and the frames per second that the page's thread could draw on a processor of its own. */
interface Frames extends Drawn {
  possible: number;
}

/** Seconds of processor time that the page's thread has used. */
async function processorTime(session: CDPSession): Promise<number> {
  const { metrics } = await session.send('Performance.getMetrics');
  return metrics.find(({ name }) => name === 'TaskDuration')!.value;
}

async function measure(page: Page, work: () => Promise<Drawn>): Promise<Frames> {
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const before = await processorTime(session);
  const drawn = await work();
  const spent = (await processorTime(session)) - before;
  await session.detach();
  expect(spent, 'processor time is measured').toBeGreaterThan(0);
  return { ...drawn, possible: drawn.count / spent };
}

/** Pans with wheel events, one a frame, for a good second, and counts the frames that were drawn. */
function pan(list: Locator, deltaY: number, ctrlKey = false): Promise<Frames> {
  return measure(list.page(), () => turnWheel(list, deltaY, ctrlKey));
}

function turnWheel(list: Locator, deltaY: number, ctrlKey: boolean): Promise<Drawn> {
  return list.evaluate(
    (node, wheel) =>
      new Promise<Drawn>((done) => {
        const times: number[] = [];
        const start = performance.now();
        function frame(now: number): void {
          times.push(now);
          const sign = wheel.ctrlKey && times.length % 40 >= 20 ? -1 : 1;
          node.dispatchEvent(
            new WheelEvent('wheel', {
              ...wheel,
              deltaY: sign * wheel.deltaY,
              clientY: node.getBoundingClientRect().top + 200,
              bubbles: true,
              cancelable: true,
            }),
          );
          if (now - start < 1200) requestAnimationFrame(frame);
          else finish();
        }
        function finish(): void {
          const gaps = times.slice(1).map((time, i) => time - times[i]!);
          const whole = times[times.length - 1]! - times[0]!;
          done({
            count: times.length,
            perSecond: (gaps.length / whole) * 1000,
            longest: Math.max(...gaps),
          });
        }
        requestAnimationFrame(frame);
      }),
    { deltaY, ctrlKey },
  );
}

/** Distinguishes a slow page from a browser that has no processor time on a busy machine. */
function expectSmooth(what: string, { perSecond, longest, possible }: Frames): void {
  console.log(
    `${what}: ${perSecond.toFixed(0)} frames/s, longest ${longest.toFixed(0)} ms, ` +
      `${possible.toFixed(0)} possible`,
  );
  expect(possible, what).toBeGreaterThanOrEqual(30);
  expect(perSecond, `${what}: drawn`).toBeGreaterThanOrEqual(5);
}

function firstCanvas(page: Page): Promise<string> {
  return page
    .locator('.pane canvas')
    .first()
    .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
}

test('100,000 events are panned at 30 frames a second', async ({ page, service }) => {
  const job = await service.daemon.run(pingPong(ROUNDS), { name: 'large', checks: ['race'] });
  const { finding } = await service.record(job, ({ check }) => check === 'race');
  await page.goto(`${service.daemon.url}/#/findings/${finding}`);
  const predicted = page.getByRole('listbox', { name: /Predicted/ });
  const detail = page.locator('.step-detail');
  await expect(detail).toContainText(`After step ${STEPS.toLocaleString('en-US')}`, {
    timeout: LARGE_MS,
  });
  await expect(predicted.getByRole('option')).not.toHaveCount(0);
  expect(await predicted.getByRole('option').count(), 'a window of the list').toBeLessThan(60);

  const before = await firstCanvas(page);
  const rows: [string, Frames][] = [['panned', await pan(predicted, -900)]];
  expect(await firstCanvas(page)).not.toBe(before);
  rows.push(['zoomed', await pan(predicted, 100, true)]);
  await predicted.focus();
  await page.keyboard.press('0');
  rows.push(['panned, all of it seen', await pan(predicted, -3)]);
  await page.keyboard.press('1');
  for (const [what, frames] of rows) expectSmooth(what, frames);

  await page.keyboard.press('Home');
  await expect(detail).toContainText('Step 1 of');
  await page.keyboard.press('v');
  await expect(detail).toContainText(/write score.*= 2/);
});

interface Fixture {
  witness: { steps: object[]; [name: string]: unknown };
  [name: string]: unknown;
}

test('100,000 steps with all details are panned at 30 frames a second', async ({
  page,
  service,
}) => {
  const { finding } = await service.record('bank', ({ check }) => check === 'assertion');
  // The server gives details of the last 200 steps only: this response has them of all steps.
  await page.route(`**/v1/findings/${finding}`, async (route) => {
    const answer = await route.fetch();
    const record = (await answer.json()) as Fixture;
    record.witness.steps = Array.from({ length: 100_000 }, (_, i) => ({
      event: i + 1,
      thread: i % 5 < 3 ? 'alice' : 'bob',
      kind: i % 2 ? 'read' : 'write',
      object: `cell${i % 7}`,
      access: i % 2 ? 'read' : 'write',
      location: `bank.c:${i % 40}`,
      function: 'transfer',
      text: `${i % 2 ? 'read' : 'write'} cell${i % 7} = ${i}`,
      value: String(i),
      observed_value: String(i),
      source: i % 2 ? i : null,
      departs: false,
    }));
    await route.fulfill({ response: answer, json: record });
  });
  await page.goto(`${service.daemon.url}/#/findings/${finding}?step=50000`);
  const predicted = page.getByRole('listbox', { name: /Predicted/ });
  await expect(page.locator('.step-detail')).toContainText('Step 50,000 of 100,000', {
    timeout: LARGE_MS,
  });
  expectSmooth('panned, all details', await pan(predicted, 700));
});

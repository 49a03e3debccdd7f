/* A witness of 100,000 events stays smooth. */
import type { Locator, Page } from '@playwright/test';
import { expect, test } from './fixture';
import { pingPong } from './daemon';

const ROUNDS = 25_000;
const STEPS = 4 * ROUNDS + 2;

/** Frames while something happens: how many a second, and the longest pause between two. */
interface Frames {
  perSecond: number;
  longest: number;
}

/** Pans with wheel events, one a frame, for a good second, and counts the frames that were drawn. */
function pan(list: Locator, deltaY: number, ctrlKey = false): Promise<Frames> {
  return list.evaluate(
    (node, wheel) =>
      new Promise<Frames>((done) => {
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
          done({ perSecond: (gaps.length / whole) * 1000, longest: Math.max(...gaps) });
        }
        requestAnimationFrame(frame);
      }),
    { deltaY, ctrlKey },
  );
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
  await expect(detail).toContainText(`After step ${STEPS.toLocaleString('en-US')}`);
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
  for (const [what, { perSecond, longest }] of rows) {
    console.log(`${what}: ${perSecond.toFixed(0)} frames/s, longest ${longest.toFixed(0)} ms`);
    expect(perSecond, what).toBeGreaterThanOrEqual(30);
  }

  await page.keyboard.press('Home');
  await expect(detail).toContainText('Step 1 of');
  await page.keyboard.press('v');
  await expect(detail).toContainText(/write score.*= 2/);
});

interface Fixture {
  witness: { steps: object[]; [name: string]: unknown };
  [name: string]: unknown;
}

test('so are 100,000 steps of which everything is told', async ({ page, service }) => {
  const { finding } = await service.record('bank', ({ check }) => check === 'assertion');
  // The server tells the last 200 steps in full: this answer is what it would be with all of them.
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
  await expect(page.locator('.step-detail')).toContainText('Step 50,000 of 100,000');
  const { perSecond } = await pan(predicted, 700);
  console.log(`panned, all told: ${perSecond.toFixed(0)} frames/s`);
  expect(perSecond).toBeGreaterThanOrEqual(30);
});

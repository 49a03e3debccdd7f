/* Following a schedule: keys, pointer, links to a step, copying, folding. */
import type { Locator, Page } from '@playwright/test';
import { expect, type Service, test } from './fixture';

interface Lanes {
  detail: Locator;
  predicted: Locator;
  observed: Locator;
}

async function openFinding(page: Page, service: Service, step = ''): Promise<Lanes> {
  const { finding } = await service.record('bank', ({ check }) => check === 'assertion');
  await page.goto(`${service.daemon.url}/#/findings/${finding}${step}`);
  const predicted = page.getByRole('listbox', { name: /Predicted/ });
  await expect(predicted).toBeVisible();
  return {
    detail: page.locator('.step-detail'),
    predicted,
    observed: page.getByRole('listbox', { name: /Observed/ }),
  };
}

/** The option that a screen reader announces as selected. */
function current(list: Locator): Locator {
  return list.getByRole('option', { selected: true });
}

test('stepping from the first step to the violating access', async ({ page, service }) => {
  const { detail, predicted, observed } = await openFinding(page, service, '?step=1');
  await expect(detail).toContainText('Step 1 of 34');
  await predicted.focus();
  await page.keyboard.press('ArrowDown');
  await expect(detail).toContainText('Step 2 of 34');
  await expect(detail).toContainText('checking := 100');
  const seen: string[] = [];
  for (let i = 0; i < 33; i++) {
    await page.keyboard.press('j');
    seen.push((await current(predicted).textContent()) ?? '');
  }
  await expect(detail).toContainText('assert(sum == 150)');
  await expect(detail).toContainText('After step 34');
  await expect(detail.getByText('violation')).toBeVisible();
  await expect(current(predicted)).toContainText('part of the violation');
  await expect(current(observed)).toContainText('assert(sum == 150)');
  // The read that differs from the observed run was announced as such.
  const departs = seen.find((text) => text.includes('differs from the observed run: 70'));
  expect(departs).toContain('thread bob, bank.c:13, balance := checking, checking = 100');
  // The values at the end are those of the lost update: 80 + 80.
  await expect(detail).toContainText('checking = 80');
  await expect(detail).toContainText('savings = 80');
});

test('moving by context switches and to the violation', async ({ page, service }) => {
  const { detail, predicted } = await openFinding(page, service, '?step=1');
  await predicted.focus();
  for (const at of [6, 12, 17, 23, 30]) {
    await page.keyboard.press('n');
    await expect(detail).toContainText(`Step ${at} of 34`);
  }
  await page.keyboard.press('p');
  await expect(detail).toContainText('Step 23 of 34');
  await page.keyboard.press('Home');
  await expect(detail).toContainText('Step 1 of 34');
  await page.getByRole('button', { name: 'Violation (v)' }).click();
  await expect(detail).toContainText('After step 34');
});

test('a link leads to its step and the address follows', async ({ page, service }) => {
  const { detail, predicted, observed } = await openFinding(page, service, '?step=15');
  await expect(detail).toContainText('Step 15 of 34');
  await expect(detail).toContainText('observed: 70');
  await expect(detail).toContainText('written in step 2');
  await expect(current(observed)).toContainText('= 70');
  await predicted.focus();
  await page.keyboard.press('ArrowUp');
  await expect(page).toHaveURL(/step=14$/);
  // A link that is opened while the page is open.
  await page.evaluate(() => (location.hash = location.hash.replace('step=14', 'step=20')));
  await expect(detail).toContainText('Step 20 of 34');
  await page.reload();
  await expect(detail).toContainText('Step 20 of 34');
});

test('a click selects the row under it, in either pane', async ({ page, service }) => {
  const { detail, predicted, observed } = await openFinding(page, service, '?step=1');
  await predicted.click({ position: { x: 120, y: 24 * 2 + 10 } });
  await expect(detail).toContainText('Step 3 of 34');
  await observed.click({ position: { x: 120, y: 24 * 3 + 10 } });
  await expect(detail).toContainText('Step 4 of 34');
});

test('lock spans, zoom, fold and lanes', async ({ page, service }) => {
  const { detail, predicted } = await openFinding(page, service, '?step=9');
  await expect(detail).toContainText('holds bank');
  await expect(detail).toContainText('bank held by alice');
  const pixels = (): Promise<string> =>
    page
      .locator('.pane canvas')
      .first()
      .evaluate((canvas: HTMLCanvasElement) => canvas.toDataURL());
  await predicted.focus();
  for (const key of ['0', '+', '1', 'r', 'c']) {
    const before = await pixels();
    await page.keyboard.press(key);
    await expect.poll(pixels, `key ${key}`).not.toBe(before);
  }
  await expect(page.getByRole('button', { name: 'Lane of thread alice' }).first()).toHaveAttribute(
    'aria-expanded',
    'false',
  );
  await page.keyboard.press('f');
  await expect(page.getByRole('button', { name: 'Fold' })).toHaveAttribute('aria-pressed', 'true');
});

test('the replay command is copied', async ({ page, service, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await openFinding(page, service);
  await page.getByRole('button', { name: 'Copy', exact: true }).last().click();
  const copied = await page.evaluate(() => navigator.clipboard.readText());
  expect(copied).toMatch(/^foretell witness .* \| foretell verify /);
  await page.getByRole('button', { name: 'Copy link to step' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(page.url());
});

/* Jobs that run, filters, keys alone, a phone. */
import { readFileSync } from 'node:fs';
import { expect, test, overflow } from './fixture';
import { example, pingPong } from './daemon';

/** Continues a worker; a cancelled job may have ended it already. */
function wake(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch {
    return;
  }
}

test('a running job is followed without a reload', async ({ page, service }) => {
  const { daemon } = service;
  // The worker is stopped until the page is open, so that nothing depends on time.
  const { trace } = await daemon.json<{ trace: string }>('/v1/traces', {
    method: 'POST',
    body: example('fig7'),
  });
  const [solver] = await daemon.solvers();
  process.kill(solver!.pid, 'SIGSTOP');
  try {
    const { job } = await daemon.json<{ job: string }>('/v1/jobs', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ trace, name: 'followed' }),
    });
    const stream = page.waitForResponse(`${daemon.url}/v1/jobs/${job}/events`);
    await page.goto(`${daemon.url}/#/jobs/${job}`);
    expect((await stream).headers()['content-type']).toContain('text/event-stream');
    await expect(page.getByRole('heading', { name: /followed/ })).toContainText(/queued|planning/);
    await expect(page.getByRole('button', { name: 'Cancel' })).toBeVisible();
    await page.evaluate(() => Object.assign(window, { same: true }));
  } finally {
    wake(solver!.pid);
  }
  // The stream reports it before the next poll, which is ten seconds away.
  await expect(page.getByRole('heading', { name: /followed/ })).toContainText('done');
  await expect(page.getByRole('link', { name: /assert/ }).first()).toBeVisible();
  await expect(page.getByRole('button', { name: 'Cancel' })).toBeHidden();
  expect(await page.evaluate(() => 'same' in window)).toBe(true);
});

test('the list shows a new job by itself, and cancelling ends one', async ({ page, service }) => {
  const { daemon } = service;
  await page.goto(`${daemon.url}/`);
  await expect(page.getByRole('link', { name: 'bank' })).toBeVisible();
  const [solver] = await daemon.solvers();
  process.kill(solver!.pid, 'SIGSTOP');
  try {
    await daemon.submit(example('rwlock'), { name: 'newcomer' });
    const row = page.getByRole('row', { name: /newcomer/ });
    await expect(row).toContainText(/queued|planning/);
    await row.getByRole('link', { name: 'newcomer' }).click();
    await page.getByRole('button', { name: 'Cancel' }).click();
  } finally {
    wake(solver!.pid);
  }
  await expect(page.getByRole('heading', { name: /newcomer/ })).toContainText('cancelled');
});

test('search and state filter the jobs, and the address keeps them', async ({ page, service }) => {
  await page.goto(`${service.daemon.url}/`);
  await expect(page.getByRole('link', { name: 'bank' })).toBeVisible();
  await page.getByRole('searchbox', { name: 'Search jobs' }).fill('fig9');
  await expect(page.getByRole('link', { name: 'bank' })).toBeHidden();
  await expect(page.getByRole('link', { name: 'fig9a' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'fig9b' })).toBeVisible();
  await page.getByRole('combobox', { name: 'State' }).selectOption('failed');
  await expect(page.getByText('No jobs match.')).toBeVisible();
  await expect(page).toHaveURL(/q=fig9&state=failed$/);
  await page.getByRole('combobox', { name: 'State' }).selectOption('done');
  await page.reload();
  await expect(page.getByRole('searchbox', { name: 'Search jobs' })).toHaveValue('fig9');
  await expect(page.getByRole('row')).toHaveCount(3);
});

test('findings are filtered by check and text, refuted ones by pass', async ({ page, service }) => {
  await page.goto(`${service.daemon.url}/#/jobs/${service.jobs['fig5']}`);
  const findings = page.locator('.group-card .records > li');
  await expect(findings).toHaveCount(9);
  await page.getByRole('combobox', { name: 'Check' }).selectOption('race');
  await expect(findings).toHaveCount(5);
  await page.getByRole('searchbox', { name: 'Search findings' }).fill('fig5.c:5');
  const shown = await findings.count();
  expect(shown).toBeGreaterThan(0);
  expect(shown).toBeLessThan(5);
  for (const text of await findings.allTextContents()) expect(text).toContain('fig5.c:5');

  await page.goto(`${service.daemon.url}/#/jobs/${service.jobs['bank']}`);
  await page.getByRole('button', { name: /^lockset/ }).click();
  const refuted = page.locator('details .records > li');
  const count = await refuted.count();
  expect(count).toBeGreaterThan(0);
  for (const text of await refuted.allTextContents()) expect(text).toContain('lockset');
  await page.getByRole('button', { name: /^lockset/ }).click();
  await expect(refuted).toHaveCount(9);
});

test('keys alone lead from the jobs to the violation', async ({ page, service }) => {
  const press = (...keys: string[]) =>
    keys.reduce((before, key) => before.then(() => page.keyboard.press(key)), Promise.resolve());
  await page.goto(`${service.daemon.url}/`);
  await expect(page.getByRole('link', { name: 'bank' })).toBeVisible();
  await press('Tab');
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused();
  await press('Enter');
  await expect(page.locator('main')).toBeFocused();
  await press('/');
  await page.keyboard.type('bank');
  await expect(page.getByRole('link', { name: 'fig5' })).toBeHidden();
  await press('Tab', 'Tab');
  await expect(page.getByRole('link', { name: 'bank' })).toBeFocused();
  await press('Enter');
  const finding = page.getByRole('link', { name: /assert\(sum == 150\)/ });
  await expect(finding).toBeVisible();
  for (let i = 0; i < 20; i++) {
    if (await finding.evaluate((link) => link === document.activeElement)) break;
    await press('Tab');
  }
  await expect(finding).toBeFocused();
  await press('Enter');
  const lanes = page.getByRole('listbox', { name: /Predicted/ });
  await expect(lanes).toBeVisible();
  for (let i = 0; i < 30; i++) {
    if (await lanes.evaluate((list) => list === document.activeElement)) break;
    await press('Tab');
  }
  await press('Home', 'v');
  await expect(page.locator('.step-detail')).toContainText('After step 34');
  await press('?');
  await expect(page.getByRole('dialog', { name: 'Keyboard shortcuts' })).toBeVisible();
  await press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await press('g', 'w');
  await expect(page.getByRole('heading', { name: 'Workers and queue' })).toBeVisible();
});

test.describe('on a phone', () => {
  test.use({ viewport: { width: 375, height: 740 }, hasTouch: true, isMobile: true });

  test('a schedule is read with a finger', async ({ page, service }) => {
    const { finding } = await service.record('bank', ({ check }) => check === 'assertion');
    await page.goto(`${service.daemon.url}/#/findings/${finding}?step=1`);
    const predicted = page.getByRole('listbox', { name: /Predicted/ });
    await expect(predicted).toBeVisible();
    await expect(page.getByRole('listbox', { name: /Observed/ })).toBeHidden();
    await predicted.tap({ position: { x: 100, y: 24 * 2 + 10 } });
    await expect(page.locator('.step-detail')).toContainText('Step 3 of 34');
    await page.getByRole('button', { name: 'Observed' }).tap();
    await expect(page.getByRole('listbox', { name: /Observed/ })).toBeVisible();
    await expect(predicted).toBeHidden();
    expect(await overflow(page)).toBeLessThanOrEqual(0);
  });

  test('long names are broken', async ({ page, service }) => {
    const name = `/builds/${'nightly_'.repeat(12)}/run.ndjson`;
    const job = await service.daemon.run(pingPong(2), { name, checks: ['lock'] });
    for (const hash of ['#/', `#/jobs/${job}`]) {
      await page.goto(`${service.daemon.url}/${hash}`);
      await expect(page.getByText(name).first()).toBeVisible();
      await expect.poll(() => overflow(page), hash).toBeLessThanOrEqual(0);
    }
  });
});

test('a review is kept and shown with the finding', async ({ page, service }) => {
  const { finding } = await service.record('rwlock', ({ verdict }) => verdict === 'violation');
  await page.goto(`${service.daemon.url}/#/findings/${finding}`);
  await page.getByRole('combobox', { name: 'Review state' }).selectOption('confirmed');
  await page.getByRole('textbox', { name: 'Reason' }).fill('seen on the build machine');
  await page.getByRole('button', { name: 'Save' }).click();
  await expect(page.getByRole('heading', { name: /Review/ })).toContainText('confirmed');
  await page.reload();
  await expect(page.getByRole('textbox', { name: 'Reason' })).toHaveValue(
    'seen on the build machine',
  );
  await page.goto(`${service.daemon.url}/#/jobs/${service.jobs['rwlock']}`);
  await expect(page.locator('.group-card .record-tags')).toContainText('confirmed');
});

test('the report comes as a file', async ({ page, service }) => {
  await page.goto(`${service.daemon.url}/#/jobs/${service.jobs['bank']}`);
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'SARIF' }).click(),
  ]);
  expect(file.suggestedFilename()).toBe(`${service.jobs['bank']}.sarif`);
  const text = readFileSync(await file.path(), 'utf8');
  expect((JSON.parse(text) as { version: string }).version).toBe('2.1.0');
});

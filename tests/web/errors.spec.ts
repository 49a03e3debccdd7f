/* Errors: missing documents, no token, no server, no dashboard. */
import { accessibilityFindings, expect, test } from './fixture';
import { Daemon, example } from './daemon';
import { tmpdir } from 'node:os';

test('missing documents and pages are reported as not found', async ({ page, service }) => {
  const rows: [string, RegExp][] = [
    ['#/jobs/0123456789abcdef', /Job 0123456789abcdef/],
    ['#/findings/0123456789abcdef-1', /Finding 0123456789abcdef-1/],
    [`#/traces/${'0'.repeat(64)}`, /Trace 0000000000/],
    ['#/nowhere', /does not exist/],
  ];
  for (const [hash, text] of rows) {
    await page.goto(`${service.daemon.url}/${hash}`);
    const alert = page.getByRole('alert');
    await expect(alert).toContainText('Not found');
    await expect(alert).toContainText(text);
    await expect(alert.getByRole('link', { name: 'Back to the jobs' })).toBeVisible();
  }
});

test('the token is required, refused, accepted and forgotten', async ({ page }) => {
  const daemon = await Daemon.start('--workers', '1');
  try {
    const token = daemon.createToken('--name', 'browser', '--scopes', 'read,submit');
    await expect.poll(async () => (await fetch(`${daemon.url}/v1/jobs`)).status).toBe(401);
    await daemon.run(example('fig7'), { name: 'secret' });
    await page.goto(`${daemon.url}/`);
    await expect(page.getByRole('heading', { name: 'A token is needed' })).toBeVisible();
    expect(await accessibilityFindings(page)).toEqual([]);
    await page.getByLabel('Token').fill('foretell_0123456789abcdef_wrong');
    await page.getByRole('button', { name: 'Continue' }).click();
    await expect(page.getByRole('alert')).toContainText('does not know this token');
    await page.getByLabel('Token').fill(token);
    const stream = page.waitForRequest(
      (request) =>
        request.url() === `${daemon.url}/v1/events` &&
        request.headers()['authorization'] === `Bearer ${token}`,
    );
    await page.keyboard.press('Enter');
    await stream;
    await page.getByRole('link', { name: 'secret' }).click();
    await expect(page.getByRole('link', { name: /assert/ }).first()).toBeVisible();
    // The token is kept for this tab and nowhere else.
    await page.reload();
    await expect(page.getByRole('heading', { name: /secret/ })).toBeVisible();
    expect(await page.evaluate(() => JSON.stringify(localStorage))).not.toContain(token);
    expect(page.url()).not.toContain(token);
    await page.getByRole('button', { name: 'Forget token' }).click();
    await expect(page.getByRole('heading', { name: 'A token is needed' })).toBeVisible();
  } finally {
    await daemon.stop();
  }
});

test('a server that stops is reported, and the page recovers when it is back', async ({ page }) => {
  const daemon = await Daemon.start('--workers', '1');
  try {
    await daemon.run(example('fig7'), { name: 'before' });
    await page.goto(`${daemon.url}/`);
    await expect(page.getByRole('link', { name: 'before' })).toBeVisible();
    await daemon.pause();
    await expect(page.getByText('The server does not answer')).toBeVisible({ timeout: 20_000 });
    await expect(page.getByRole('link', { name: 'before' })).toBeVisible();
    await daemon.resume();
    await daemon.run(example('fig7'), { name: 'after' });
    await expect(page.getByRole('link', { name: 'after' })).toBeVisible({ timeout: 20_000 });
    await expect(page.getByText('The server does not answer')).toBeHidden();
  } finally {
    await daemon.stop();
  }
});

test('without the dashboard files the daemon works and reports that they are missing', async ({
  page,
  errors,
}) => {
  const daemon = await Daemon.start('--workers', '1', '--web-root', `${tmpdir()}/no-such-folder`);
  try {
    await daemon.run(example('fig7'));
    await page.goto(`${daemon.url}/`);
    await expect(page.locator('body')).toContainText(/dashboard/i);
    expect(errors).toEqual([]);
  } finally {
    await daemon.stop();
  }
});

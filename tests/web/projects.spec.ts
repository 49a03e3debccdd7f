/* The page for admins: webhooks, their deliveries, limits. */
import { accessibilityFindings, expect, overflow, test } from './fixture';
import { Daemon, example } from './daemon';

/** Nobody listens there, so that a delivery fails at once. */
const NOWHERE = 'http://127.0.0.1:9/hook';
const OPTIONS = ['--workers', '1', '--webhook-allow-private', '1', '--webhook-attempts', '1'];

let daemon: Daemon;
test.beforeAll(async () => {
  daemon = await Daemon.start(...OPTIONS);
});
test.afterAll(() => daemon.stop());

test('a webhook is set, delivers the end of a job, and is removed', async ({ page }) => {
  test.slow();
  await page.goto(`${daemon.url}/#/projects`);
  const form = page.getByRole('form', { name: 'Webhook' });
  await form.getByLabel('Project').fill('team/app');
  await form.getByLabel('URL').fill(NOWHERE);
  await page.keyboard.press('Enter');
  const secret = page.getByText(/^whsec_[0-9a-f]{64}$/);
  await expect(secret).toBeVisible();
  const first = await secret.textContent();
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();
  await expect(secret).toBeHidden();
  await page.reload();
  const row = page.getByRole('row', { name: /^team\/app http/ });
  await expect(row).toContainText(NOWHERE);
  await expect(secret).toBeHidden();

  const job = await daemon.run(example('fig7'), { project: 'team/app' });
  const delivery = page
    .getByRole('table', { name: 'Last deliveries' })
    .getByRole('row', { name: job });
  await expect(delivery).toContainText('failed', { timeout: 20_000 });
  const repeated = page.waitForResponse(/\/repeat$/);
  await delivery.getByRole('button', { name: /Repeat/ }).click();
  expect((await repeated).status()).toBe(204);

  await row.getByRole('button', { name: /New secret/ }).click();
  await expect(secret).toBeVisible();
  expect(await secret.textContent()).not.toBe(first);
  // The first press of "Remove" asks for confirmation.
  await row.getByRole('button', { name: /^Remove/ }).click();
  await expect(row.getByRole('button', { name: /confirm/ })).toHaveText('Really remove?');
  await page.getByRole('heading', { name: 'Limits' }).click();
  await row.getByRole('button', { name: /^Remove/ }).press('Enter');
  await row.getByRole('button', { name: /confirm/ }).press('Enter');
  await expect(row).toBeHidden();
  await expect(secret).toBeHidden();
  expect(await daemon.json('/v1/webhooks')).toEqual({ webhooks: [] });
});

test('errors of the server are shown', async ({ page }) => {
  await page.goto(`${daemon.url}/#/projects`);
  const form = page.getByRole('form', { name: 'Webhook' });
  await form.getByLabel('Project').fill('no project!');
  await form.getByRole('button').click();
  await expect(page.getByRole('alert')).toContainText('a project has 1 to');
  await form.getByLabel('Project').fill('app');
  await form.getByRole('button').click();
  await expect(page.getByRole('alert')).toBeHidden();
  await expect(page.getByRole('row', { name: /^app/ })).toContainText(
    'only for jobs that name a URL',
  );
});

test('limits are set, changed and removed', async ({ page }) => {
  await page.goto(`${daemon.url}/#/projects`);
  const form = page.getByRole('form', { name: 'Limits' });
  await form.getByLabel('Project').fill('small');
  await form.getByLabel('Open jobs').fill('3');
  await form.getByLabel('Bytes of traces').fill('1048576');
  await form.getByLabel('Workers at once').fill('0');
  await page.keyboard.press('Enter');
  const row = page.getByRole('row', { name: /^small/ });
  await expect(row).toContainText('3 jobs, workers: no limit, 1.0 MiB of traces');
  await row.getByRole('button', { name: /Change/ }).click();
  await expect(form.getByLabel('Project')).toHaveValue('small');
  await expect(form.getByLabel('Open jobs')).toHaveValue('3');
  await form.getByLabel('Open jobs').fill('4');
  await form.getByLabel('Workers at once').fill('');
  await form.getByRole('button').click();
  await expect(row).toContainText('4 jobs, 1.0 MiB of traces');
  const { limits } = await daemon.json<{ limits: Record<string, unknown>[] }>('/v1/limits');
  expect(limits.find(({ project }) => project === 'small')).toMatchObject({
    jobs: 4,
    workers: null,
    bytes: 1048576,
  });
  await page.setViewportSize({ width: 375, height: 700 });
  await expect.poll(() => overflow(page), 'wider than a phone').toBeLessThanOrEqual(0);
  await page.emulateMedia({ colorScheme: 'dark' });
  expect(await accessibilityFindings(page)).toEqual([]);
  await row.getByRole('button', { name: /^Remove/ }).click();
  await row.getByRole('button', { name: /confirm/ }).click();
  await expect(row).toBeHidden();
});

test('the page requires the scope admin', async ({ page }) => {
  const closed = await Daemon.start('--workers', '1');
  try {
    const reader = closed.createToken('--name', 'reader', '--scopes', 'read,submit');
    const admin = closed.createToken('--name', 'admin', '--scopes', 'admin');
    await expect.poll(async () => (await fetch(`${closed.url}/v1/jobs`)).status).toBe(401);
    await page.goto(`${closed.url}/#/projects`);
    await page.getByLabel('Token').fill(reader);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('alert')).toContainText('scope admin');
    await expect(page.getByRole('link', { name: 'Projects' })).toBeHidden();
    await page.getByRole('button', { name: 'Forget token' }).click();
    await page.getByLabel('Token').fill(admin);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('heading', { name: 'Webhooks' })).toBeVisible();
    await page.keyboard.press('g');
    await page.keyboard.press('j');
    await page.getByRole('link', { name: 'Projects' }).click();
    await expect(page.getByRole('form', { name: 'Limits' })).toBeVisible();
  } finally {
    await closed.stop();
  }
});

/* Two daemons over one PostgreSQL: the page of workers lists both. Skipped without PostgreSQL. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { accessibilityFindings, expect, overflow, test } from './fixture';
import { Daemon, example } from './daemon';

const WITH = fileURLToPath(new URL('../postgres/with', import.meta.url));

let database: ChildProcess;
let daemons: Daemon[] = [];

/** The address of a PostgreSQL that ends with its standard input; null: there is none. */
async function startDatabase(): Promise<string | null> {
  database = spawn(WITH, ['sh', '-c', 'echo "$FT_TEST_POSTGRES"; cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const address = new Promise<string>((done) =>
    database.stdout!.once('data', (text: Buffer) => done(text.toString().trim())),
  );
  const ended = once(database, 'exit').then(([code]) => {
    if (code !== 77) throw new Error(`tests/postgres/with ended with ${code}`);
    return null;
  });
  ended.catch(() => {}); // after the tests it may end as it likes
  return Promise.race([address, ended]);
}

test.beforeAll(async () => {
  const address = await startDatabase();
  test.skip(address === null, 'PostgreSQL is not installed');
  for (const workers of ['1', '2'])
    daemons.push(
      await Daemon.start('--workers', workers, '--lease-ms', '2000', '--store', address!),
    );
});

test.afterAll(async () => {
  for (const daemon of daemons) await daemon.stop();
  daemons = [];
  database.stdin!.end();
  if (database.exitCode === null) await once(database, 'exit');
});

test('a fleet is one Foretell, and its page lists the nodes', async ({ page }) => {
  const [first, second] = daemons as [Daemon, Daemon];
  await second.run(example('bank'), { name: 'bank' });
  await page.goto(`${first.url}/#/`);
  await expect(page.getByRole('link', { name: 'bank' })).toBeVisible();

  await page.goto(`${first.url}/#/system`);
  const nodes = page.getByRole('table', { name: 'Nodes' }).getByRole('row');
  await expect(nodes).toHaveCount(3);
  const own = nodes.filter({ hasText: 'this one' });
  await expect(own).toHaveCount(1);
  await expect(own.getByRole('cell').nth(1)).toHaveText('1');
  await expect(nodes.last().getByRole('cell').nth(1)).toHaveText('2');
  await expect(nodes.last()).not.toContainText('this one');
  const tasks = nodes.getByRole('cell').nth(3);
  await expect(tasks.first()).toHaveText(/^\d+$/);
  expect(await accessibilityFindings(page)).toEqual([]);
  for (const width of [1280, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await expect.poll(() => overflow(page)).toBeLessThanOrEqual(0);
  }

  await second.pause();
  await expect(nodes).toHaveCount(2);
  await second.resume();
  await expect(nodes).toHaveCount(3);
});

/* Questions about programs: a schedule set with its certificates, places that threads hold. */
import { accessibilityFindings, expect, overflow, test } from './fixture';
import { Daemon } from './daemon';

/** Two threads and an input; where it is small, an assertion fails under the schedule. */
const PROGRAM = `program 1
file "shop.c"
object @m 40 align 8
object @n 4 align 4
function @seller(%a: i64) -> i64 {
  start:
    lock @m !0:5:3
    %v = load i32 @n !0:6:3
    %w = add i32 %v, 1
    store i32 %w, @n !0:6:3
    unlock @m !0:7:3
    return i64 0
}
function @main() -> i32 {
  start:
    %x = input "stock" i8 !0:11:3
    %t = create @seller, 0 !0:12:3
    %c = ult i8 %x, 3
    branch %c, small, large
  small:
    lock @m !0:14:5
    unlock @m !0:15:5
    jump done
  large:
    jump done
  done:
    join %t !0:17:3
    %g = ne i8 %x, 1
    assert "stock is not one" %g !0:18:3
    return i32 0
}
`;

async function ask(daemon: Daemon, kind: string, question: object, program = PROGRAM) {
  const { trace } = await daemon.json<{ trace: string }>('/v1/programs', {
    method: 'POST',
    body: program,
  });
  const { job } = await daemon.json<{ job: string }>('/v1/jobs', {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ program: trace, kind, [kind]: question, name: 'shop' }),
  });
  return job;
}

interface Notes {
  notes: { code: string; text: string }[];
}

async function setOf(daemon: Daemon, job: string): Promise<string> {
  const { notes } = await daemon.json<Notes>(`/v1/jobs/${job}/findings`);
  const text = notes.find(({ code }) => code === 'cover-answer')?.text ?? '{}';
  return (JSON.parse(text) as { set: string }).set;
}

test('a schedule set shows its certificates, selector, graph and refutations', async ({
  page,
  service,
}, info) => {
  const { daemon } = service;
  const job = await ask(daemon, 'cover', { prefix: false });
  await daemon.ended(job);
  await page.goto(`${daemon.url}/#/jobs/${job}`);
  const certificates = page.getByRole('table').filter({ hasText: 'Unsatisfiable is' });
  const row = (name: string) => certificates.getByRole('row').filter({ hasText: name });
  await expect(row('check-cover')).toContainText('proved');
  await expect(row('assertions')).toContainText('refuted');
  await expect(page.getByText('All six certificates hold')).toBeVisible();
  const failed = page.locator('.refutation').filter({ hasText: 'assertions' });
  await expect(failed).toContainText('shop.c:18');
  await expect(failed).toContainText('stock = 1');
  await expect(failed).toContainText('executed');
  // The refutation leads to its schedule, the selector to the other one.
  const choose = page.getByLabel('Schedule of epoch entry');
  await failed.getByRole('button').click();
  const refuted = await choose.inputValue();
  const graph = page.getByLabel(`Graph of schedule ${refuted}`);
  await expect(graph).toContainText('thread 0.1');
  await expect(graph).toContainText('lock @m+0');
  await expect(graph.locator('.edge').first()).toBeVisible();
  await page.screenshot({ path: info.outputPath('cover.png'), fullPage: true });
  await page.locator('.selector').getByRole('button', { pressed: false }).first().click();
  expect(await choose.inputValue()).not.toBe(refuted);
  expect(page.url()).toContain('in.entry=');
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
  await failed.getByRole('link', { name: 'Record and review' }).click();
  await expect(page.getByRole('heading', { name: /Certificate/ })).toBeVisible();
  await expect(page.getByText('its locks are not known')).toBeVisible();
  // The run that refutes it is a witness of the program.
  await expect(page.getByText('foretell verify witness.json PROGRAM')).toBeVisible();
  await page.screenshot({ path: info.outputPath('record.png'), fullPage: true });
});

test('a set that leaves inputs out is refuted, and says which', async ({ page, service }) => {
  const { daemon } = service;
  const first = await ask(daemon, 'cover', { prefix: false });
  await daemon.ended(first);
  const set = (await setOf(daemon, first)).replace(/take s2\b/, 'none');
  const job = await ask(daemon, 'cover', { prefix: false, set });
  await daemon.ended(job);
  await page.setViewportSize({ width: 400, height: 800 });
  await page.goto(`${daemon.url}/#/jobs/${job}`);
  await expect(page.getByText('nothing is concluded from the set')).toBeVisible();
  await expect(page.locator('.selector').first()).toContainText('no schedule covers these inputs');
  const failed = page.locator('.refutation').filter({ hasText: 'check-cover' });
  await expect(failed).toContainText(/stock = \d+/);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
});

/** A worker that takes a lock as often as the input says: a set of two epochs, of which the second
 * goes on in itself. */
const ROUNDS = `program 1
file "rounds.c"
object @m 40 align 8
object @left 4 align 4
function @worker(%a: i64) -> i64 {
  start:
    jump loop(i32 0)
  loop(%i: i32):
    variable "i" %i !0:6:7
    %n = load i32 @left !0:6:14
    %more = ult i32 %i, %n
    branch %more, round, done
  round:
    lock @m !0:7:5
    unlock @m !0:8:5
    %j = add i32 %i, 1
    jump loop(%j)
  done:
    return i64 0
}
function @main() -> i32 {
  start:
    %x = input "rounds" i8 !0:13:3
    %y = zext i32 %x
    store i32 %y, @left
    %t = create @worker, 0 !0:14:3
    join %t !0:15:3
    return i32 0
}
`;

test('a set of several epochs shows each one, and what its certificates say', async ({
  page,
  service,
}, info) => {
  const { daemon } = service;
  const job = await ask(daemon, 'cover', { epochs: 'markers' }, ROUNDS);
  await daemon.ended(job);
  await page.goto(`${daemon.url}/#/jobs/${job}`);
  await expect(page.getByRole('heading', { name: /Schedule set/ })).toContainText('2 epochs');
  const certificates = page.getByRole('table').filter({ hasText: 'Unsatisfiable is' });
  for (const name of ['cover', 'schedule', 'race', 'deadlock', 'order', 'closed'])
    await expect(
      certificates.getByRole('row').filter({ hasText: `check-${name}` }),
      name,
    ).toContainText('proved');
  await expect(page.getByText('All six certificates hold')).toBeVisible();
  const epochs = page.locator('.epoch');
  await expect(epochs).toHaveCount(2);
  // Where the second one begins: threads, memory and the variable that its selector needs.
  const later = epochs.nth(1);
  await later.getByText(/Where it begins: \d+ facts/).click();
  const facts = later.getByRole('listitem');
  await expect(facts.filter({ hasText: 'stands 1 lock at @worker' })).toBeVisible();
  await expect(facts.filter({ hasText: 'local 1/0%i "i" "rounds.c" 6' })).toBeVisible();
  // One schedule ends the process, the other one begins the epoch again, with the same threads.
  const choose = later.getByRole('combobox');
  const ends = await choose.locator('option').allTextContents();
  expect(ends.map((text) => /\((\w+)\)/.exec(text)?.[1]).sort()).toEqual(['epoch', 'exited']);
  await choose.selectOption({ label: ends.find((text) => text.includes('epoch')) ?? '' });
  await expect(later).toContainText('then comes the epoch');
  await expect(later).toContainText('0 is 0, 1 is 1');
  const graph = later.getByLabel(/^Graph of schedule/);
  await expect(graph).toContainText('thread 1');
  await expect(graph).toContainText('lock @m+0');
  expect(page.url()).toContain('in.e1=');
  await page.screenshot({ path: info.outputPath('epochs.png'), fullPage: true });
  expect(await accessibilityFindings(page)).toEqual([]);
  expect(await overflow(page)).toBeLessThanOrEqual(0);
});

test('a state that no schedule of a later epoch covers is not called covered', async ({
  page,
  service,
}) => {
  const { daemon } = service;
  const first = await ask(daemon, 'cover', { epochs: 'markers' }, ROUNDS);
  await daemon.ended(first);
  const found = await setOf(daemon, first);
  const set = found.replace(/(\nepoch e1\n[^]*?\n {2})take \w+/, '$1none');
  expect(set).not.toEqual(found);
  const job = await ask(daemon, 'cover', { set }, ROUNDS);
  await daemon.ended(job);
  await page.goto(`${daemon.url}/#/jobs/${job}`);
  await expect(page.getByText('nothing is concluded from the set')).toBeVisible();
  const row = page.getByRole('row').filter({ hasText: 'check-cover' });
  await expect(row).toContainText(/refuted|unknown/);
  const failed = page.locator('.refutation').filter({ hasText: 'check-cover' });
  await expect(failed.first()).toContainText('that no schedule covers');
  await expect(page.locator('.epoch').nth(1)).toContainText('no schedule covers these inputs');
});

test('certificates are counted while they are answered', async ({ page }) => {
  const daemon = await Daemon.start('--workers', '1');
  try {
    const sections = '    lock @m\n    unlock @m\n'.repeat(200);
    const bit = (b: number) =>
      `  bit${b}:\n    %b${b} = and i16 %x, ${1 << b}\n    %c${b} = eq i16 %b${b}, 0\n` +
      `    branch %c${b}, bit${b + 1}, take${b}\n  take${b}:\n${sections}    jump bit${b + 1}\n`;
    const bits = [0, 1, 2, 3, 4, 5];
    const program =
      'program 1\nobject @m 40 align 8\nfunction @main() -> i32 {\n  start:\n    %x = input "x" i16\n' +
      `    jump bit0\n${bits.map(bit).join('')}  bit${bits.length}:\n    return i32 0\n}\n`;
    const job = await ask(daemon, 'cover', { prefix: false }, program);
    await page.goto(`${daemon.url}/#/jobs/${job}`);
    await expect(page.getByText(/\d+ proved, \d+ open/).first()).toBeVisible({ timeout: 60_000 });
    await page.getByRole('button', { name: 'Cancel' }).click();
    await expect(page.getByRole('heading', { level: 1 })).toContainText('cancelled');
  } finally {
    await daemon.stop();
  }
});

test('a context shows places, answer and reason', async ({ page, service }, info) => {
  const { daemon } = service;
  const at = (...places: string[]) => ({
    threads: places.map((place, i) => ({ name: `T${i}`, at: place })),
    steps: 2,
  });
  const never = await ask(daemon, 'context', at('shop.c:6', 'shop.c:15'));
  const reached = await ask(daemon, 'context', at('shop.c:6', 'shop.c:17'));
  await daemon.ended(never);
  await daemon.ended(reached);
  await page.goto(`${daemon.url}/#/jobs/${never}`);
  await expect(page.getByRole('heading', { name: /Together: never/ })).toBeVisible();
  await expect(page.getByText(/both hold the same lock/)).toBeVisible();
  await expect(page.getByText('Assuming that the program has no data race.')).toBeVisible();
  await expect(page.getByRole('row', { name: /^T1/ })).toContainText('shop.c:15');
  expect(await accessibilityFindings(page)).toEqual([]);
  await page.screenshot({ path: info.outputPath('context.png'), fullPage: true });
  await page.goto(`${daemon.url}/#/jobs/${reached}`);
  await expect(page.getByRole('heading', { name: /Together: reached/ })).toBeVisible();
  await expect(page.getByText(/stock = \d+/)).toBeVisible();
  await expect(page.getByText(/Paths of at most 2 branches/).first()).toBeVisible();
});

/* Explorations of programs: progress while the tree of schedules is worked off, inputs and values. */
import { expect, test } from './fixture';
import { Daemon } from './daemon';

/** Three threads of four sections each; where the input is 7, what the last one reads is wrong. */
function program(): string {
  const section = (k: number) =>
    `    lock @m\n    %n${k} = load i32 @n\n    %m${k} = add i32 %n${k}, 1\n    store i32 %m${k}, @n\n    unlock @m\n`;
  const worker = (t: number) =>
    `function @worker${t}(%argument: i64) -> i64 {\n  start:\n${[0, 1, 2, 3].map(section).join('')}    return i64 0\n}\n`;
  const threads = [0, 1, 2];
  return `program 1\nobject @m 40 align 8\nobject @n 4 align 4\n${threads.map(worker).join('')}
function @main() -> i32 {
  start:
    %limit = input "limit" i32
${threads.map((t) => `    %t${t} = create @worker${t}, 0\n`).join('')}${threads.map((t) => `    join %t${t}\n`).join('')}
    %n = load i32 @n
    %off = sub i32 %n, 5
    %good = ne i32 %off, %limit
    assert "n - 5 != limit" %good
    return i32 0
}
`;
}

test('an exploration shows its progress, then a schedule with its inputs', async ({
  page,
}, info) => {
  const daemon = await Daemon.start('--workers', '2', '--explore-ms', '200');
  try {
    const { trace } = await daemon.json<{ trace: string }>('/v1/programs', {
      method: 'POST',
      body: program(),
    });
    const { job } = await daemon.json<{ job: string }>('/v1/jobs', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ program: trace, name: 'sections' }),
    });
    await page.goto(`${daemon.url}/#/jobs/${job}`);
    await expect(page.getByText(/subtrees? done, \d+ open/)).toBeVisible({ timeout: 60_000 });
    await page.screenshot({ path: info.outputPath('progress.png') });
    await page.getByRole('button', { name: 'Cancel' }).waitFor();
    // The failure is there while the rest is still searched.
    await page.getByRole('link', { name: /n - 5 != limit/ }).click({ timeout: 60_000 });
    await expect(page.getByText('Inputs:')).toContainText('limit = 7');
    const lanes = page.getByRole('listbox').first();
    await expect(lanes).toBeVisible();
    await expect(page.getByText(/Observed|observed order|undefined/)).toHaveCount(0);
    await lanes.focus();
    await page.keyboard.press('End');
    await expect(page.locator('.step-detail')).toContainText('n = 12');
    await page.screenshot({ path: info.outputPath('finding.png'), fullPage: true });
  } finally {
    await daemon.stop();
  }
});

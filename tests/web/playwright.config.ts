import { defineConfig } from '@playwright/test';

// FORETELL_CHROMIUM: another browser than Debian's.
const executablePath = process.env['FORETELL_CHROMIUM'] ?? '/usr/bin/chromium';

export default defineConfig({
  testDir: '.',
  outputDir: process.env['FORETELL_TEST_OUT'] ?? 'test-results',
  workers: 1,
  timeout: 30_000,
  expect: { timeout: 8_000 },
  reporter: [['list']],
  forbidOnly: true,
  maxFailures: 12,
  // A busy machine may be slow for a while; a test that passes on retry is reported as flaky.
  retries: process.env['CI'] ? 1 : 0,
  use: {
    browserName: 'chromium',
    viewport: { width: 1280, height: 800 },
    launchOptions: { executablePath, args: ['--no-sandbox'] },
    trace: 'off',
  },
  projects: [
    { name: 'dashboard', testMatch: '*.spec.ts' },
    { name: 'screenshots', testMatch: 'screenshots.ts' },
  ],
});

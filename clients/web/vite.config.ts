import { defineConfig } from 'vitest/config';

// FORETELL_SERVER: the daemon behind `npm run dev`.
const server = process.env['FORETELL_SERVER'] ?? 'http://127.0.0.1:7411';

export default defineConfig({
  esbuild: { jsx: 'automatic', jsxImportSource: 'preact' },
  build: {
    outDir: process.env['FORETELL_WEB_OUT'] ?? 'dist',
    emptyOutDir: true,
    target: 'es2022',
    // The security policy allows no data: scripts or fonts: everything is a file of its own.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/v1': server, '/metrics': server, '/ready': server } },
  test: { include: ['test/**/*.test.ts'] },
});

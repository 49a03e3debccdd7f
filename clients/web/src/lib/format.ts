/* Formats numbers, times and names for the pages. */

export function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** "1 finding", "2 findings" */
export function plural(value: number, noun: string, nouns = `${noun}s`): string {
  return `${count(value)} ${value === 1 ? noun : nouns}`;
}

const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(Math.floor(Math.log2(value) / 10), UNITS.length - 1);
  const scaled = value / 1024 ** power;
  return `${power === 0 || scaled >= 100 ? Math.round(scaled) : scaled.toFixed(1)} ${UNITS[power]}`;
}

export function duration(ms: number): string {
  if (ms > 0 && ms < 0.05) return '< 0.1 ms';
  if (ms < 1000) return `${ms > 0 && ms < 10 ? ms.toFixed(1) : Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 60) return `${seconds.toFixed(1)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${minutes} min ${Math.round(seconds % 60)} s`;
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

const AGES: [number, string][] = [
  [86400, 'd'],
  [3600, 'h'],
  [60, 'min'],
  [1, 's'],
];

export function ago(iso: string, now = Date.now()): string {
  const seconds = (now - Date.parse(iso)) / 1000;
  if (!(seconds >= 1)) return 'now';
  for (const [size, unit] of AGES)
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  return 'now';
}

export function shortHash(hash: string): string {
  return hash.slice(0, 10);
}

const CHECK_NAMES: Record<string, string> = {
  race: 'Race',
  atomicity: 'Atomicity violation',
  assertion: 'Assertion failure',
  lock: 'Lock error',
  deadlock: 'Deadlock',
  order: 'Order error',
  property: 'Broken property',
  certificate: 'Certificate',
  context: 'Context',
};

export function checkName(check: string): string {
  return CHECK_NAMES[check] ?? check;
}

/** Job of a finding: the server names findings JOB-N. */
export function jobOfFinding(finding: string): string {
  const dash = finding.lastIndexOf('-');
  return dash > 0 ? finding.slice(0, dash) : finding;
}

/* A real foretelld in a temporary folder, and the requests that tests send to it. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = resolve(fileURLToPath(new URL('.', import.meta.url)), '../..');
/** The build folder: programs in bin, the dashboard in share/foretell/web. */
const BUILD = resolve(process.env['FORETELL_BUILD'] ?? join(ROOT, 'build'));

export interface Worker {
  worker: number;
  pid: number;
  role: string;
}

export interface RecordBrief {
  finding: string;
  check: string;
  verdict: string;
  message?: string;
  reason?: { pass: string };
}

export interface ReportBrief {
  findings: RecordBrief[];
  safe: RecordBrief[];
}

export function example(name: string): string {
  return readFileSync(join(ROOT, 'examples', `${name}.ndjson`), 'utf8');
}

export class Daemon {
  private child: ChildProcess | null = null;
  private readonly state = mkdtempSync(join(tmpdir(), 'foretell-web-'));
  port = 0;
  token: string | null = null;

  private constructor(private readonly options: string[]) {}

  static async start(...options: string[]): Promise<Daemon> {
    const daemon = new Daemon(options);
    await daemon.resume();
    return daemon;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  /** Starts it (again), on the same port and with the same store. */
  async resume(): Promise<void> {
    const portFile = join(this.state, `port-${Date.now()}`);
    const ready = new Promise<void>((done, fail) => {
      const watcher = watch(this.state, () => {
        const port = readPort(portFile);
        if (!port) return;
        this.port = port;
        watcher.close();
        done();
      });
      this.child = spawn(
        join(BUILD, 'bin', 'foretelld'),
        [
          '--state',
          this.state,
          '--listen',
          `127.0.0.1:${this.port}`,
          '--port-file',
          portFile,
        ].concat(['--log-level', 'warn', ...this.options]),
        { stdio: ['ignore', 'ignore', 'inherit'] },
      );
      this.child.once('exit', (code) => fail(new Error(`foretelld ended with ${code}`)));
    });
    await ready;
    this.child?.removeAllListeners('exit');
  }

  async pause(): Promise<void> {
    const child = this.child;
    this.child = null;
    if (!child || child.exitCode !== null) return;
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    await exit;
  }

  async stop(): Promise<void> {
    await this.pause();
    rmSync(this.state, { recursive: true, force: true });
  }

  /** Creates a token, which the daemon requires from then on. */
  createToken(...options: string[]): string {
    const args = ['token', 'create', '--state', this.state, ...options];
    const out = execFileSync(join(BUILD, 'bin', 'foretelld'), args, { encoding: 'utf8' });
    const found = /foretell_[0-9a-z]+_[0-9A-Za-z_-]+/.exec(out);
    if (!found) throw new Error(`no token in: ${out}`);
    this.token = found[0];
    return found[0];
  }

  async request(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    if (this.token) headers.set('Authorization', `Bearer ${this.token}`);
    const response = await fetch(this.url + path, { ...init, headers });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response;
  }

  async json<T>(path: string, init: RequestInit = {}): Promise<T> {
    return (await (await this.request(path, init)).json()) as T;
  }

  /** Uploads a trace and starts a job on it; its id. */
  async submit(trace: string, job: Record<string, unknown> = {}): Promise<string> {
    const meta = await this.json<{ trace: string }>('/v1/traces', { method: 'POST', body: trace });
    const answer = await this.json<{ job: string }>('/v1/jobs', {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ trace: meta.trace, ...job }),
    });
    return answer.job;
  }

  async ended(job: string): Promise<void> {
    await this.request(`/v1/jobs/${job}`, { headers: { Prefer: 'wait=60' } });
  }

  async run(trace: string, job: Record<string, unknown> = {}): Promise<string> {
    const id = await this.submit(trace, job);
    await this.ended(id);
    return id;
  }

  report(job: string): Promise<ReportBrief> {
    return this.json<ReportBrief>(`/v1/jobs/${job}/findings?safe=1`);
  }

  async solvers(): Promise<Worker[]> {
    const { workers } = await this.json<{ workers: Worker[] }>('/v1/workers');
    return workers.filter((worker) => worker.role === 'solve');
  }
}

function readPort(file: string): number {
  try {
    return Number.parseInt(readFileSync(file, 'utf8'), 10) || 0;
  } catch {
    return 0;
  }
}

/**
 * Two threads that hand a ball to and fro so that the model ties every step to the one before: the
 * race at the end has a witness of all of them, `4 * rounds + 2` events.
 */
export function pingPong(rounds: number): string {
  const lines: object[] = [
    {
      format: 'foretell',
      version: 1,
      threads: ['main', 'ping', 'pong'],
      variables: Object.fromEntries(
        ['ball', 'back', 'score'].map((name) => [name, { sort: 'Int', init: 0 }]),
      ),
    },
    { thread: 'main', kind: 'fork', child: 'ping', loc: 'pong.c:40', function: 'main' },
    { thread: 'main', kind: 'fork', child: 'pong', loc: 'pong.c:41', function: 'main' },
  ];
  const hop = (thread: string, kind: string, variable: string, value: number, line: number) =>
    lines.push({ thread, kind, variable, value, atomic: true, loc: `pong.c:${line}` });
  for (let i = 1; i <= rounds; i++) {
    hop('ping', 'write', 'ball', i, 10);
    hop('pong', 'read', 'ball', i, 20);
    hop('pong', 'write', 'back', i, 21);
    hop('ping', 'read', 'back', i, 11);
  }
  lines.push({ thread: 'ping', kind: 'write', variable: 'score', value: 1, loc: 'pong.c:14' });
  lines.push({ thread: 'pong', kind: 'write', variable: 'score', value: 2, loc: 'pong.c:24' });
  return `${lines.map((line) => JSON.stringify(line)).join('\n')}\n`;
}

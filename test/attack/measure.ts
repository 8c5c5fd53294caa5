/**
 * Measures the process that loads it: how long its event loop stood still, how much memory it took, and which
 * addresses it asked for. Loaded with `--import` into the bundle; ATTACK_REPORT is then the file for the result.
 */
import fs, { constants, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { isIP, Socket } from 'node:net';
import timers from 'node:timers/promises';

export interface Measured {
  readonly stallMs: number;
  readonly grownBytes: number;
  /** Hosts outside this machine, none of which was reached. */
  readonly hosts: readonly string[];
  readonly crashes: readonly string[];
  readonly shared: readonly string[];
}

const TICK_MS = 10;
/** Longer than any stall that comes from other processes of the machine. */
const WALL_MS = 3000;
/** Waits are this many times shorter, so that retries and timeouts take no time. */
const HURRY = 20;
const LONG_MS = 100;
const SHORT_MS = 20;

export class Gauge {
  readonly #timer: NodeJS.Timeout;
  readonly #startRss = process.memoryUsage.rss();
  readonly #startPeak = process.resourceUsage().maxRSS;
  #peak = this.#startRss;
  #wallAt = performance.now();
  #cpuAt = cpuMs();
  #stallMs = 0;

  constructor() {
    hosts.clear();
    shared.clear();
    crashes.length = 0;
    this.#timer = setInterval(() => this.#look(), TICK_MS);
    this.#timer.unref();
  }

  stop(): Measured {
    this.#look();
    clearInterval(this.#timer);
    const peak = process.resourceUsage().maxRSS;
    // The highest value of the process shows what grew and shrank between two looks.
    const most = peak > this.#startPeak ? Math.max(this.#peak, peak * 1024) : this.#peak;
    const stallMs = Math.round(this.#stallMs);
    const grownBytes = most - this.#startRss;
    return { stallMs, grownBytes, hosts: [...hosts], crashes: [...crashes], shared: [...shared] };
  }

  /** A stall is what this thread computed between two ticks: on a busy machine, ticks are late by themselves. */
  #look(): void {
    const [wall, cpu] = [performance.now(), cpuMs()];
    const waited = wall - this.#wallAt;
    this.#stallMs = Math.max(this.#stallMs, waited > WALL_MS ? waited : Math.min(waited, cpu - this.#cpuAt));
    this.#wallAt = wall;
    this.#cpuAt = cpu;
    this.#peak = Math.max(this.#peak, process.memoryUsage.rss());
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Files that were opened for writing at a name that something else may have taken. */
const shared = new Set<string>();
const { O_CREAT, O_EXCL } = constants;
function watchOpen<T extends { open: unknown }>(owner: T, name: keyof T): void {
  const open = owner[name] as (...args: unknown[]) => unknown;
  owner[name] = ((path: unknown, flags: unknown = 'r', ...rest: unknown[]) => {
    const creates =
      typeof flags === 'number'
        ? (flags & O_CREAT) !== 0 && (flags & O_EXCL) === 0
        : /^[wa][^x]*$/.test(String(flags));
    if (creates) shared.add(String(path));
    return open(path, flags, ...rest);
  }) as T[keyof T];
}
watchOpen(fs, 'open');
watchOpen(fs, 'openSync');
watchOpen(fs.promises, 'open');

const hosts = new Set<string>();
const crashes: string[] = [];
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => void crashes.push(String((error as Error)?.stack ?? error)));
}

/** Nothing leaves this machine. */
const { connect } = Socket.prototype;
Socket.prototype.connect = function (this: Socket, ...args: unknown[]): Socket {
  // Node normalizes the arguments to a list in a list before it connects.
  const [options] = args.flat(2) as ({ host?: string; port?: number } | undefined)[];
  const host = options?.host;
  if (typeof options !== 'object' || host === undefined || isLoopback(host)) {
    return Reflect.apply(connect, this, args) as Socket;
  }
  hosts.add(host);
  process.nextTick(() => this.destroy(new Error(`The attack allows no connection to ${host}.`)));
  return this;
} as typeof connect;

function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));
}

const shorter = (ms = 0) => (ms > LONG_MS ? Math.max(SHORT_MS, ms / HURRY) : ms);
const { setTimeout: realTimeout } = globalThis;
globalThis.setTimeout = Object.assign(
  (work: (...args: unknown[]) => void, ms?: number, ...args: unknown[]) =>
    realTimeout(work, shorter(ms), ...args),
  realTimeout,
);
const { setTimeout: realDelay } = timers;
timers.setTimeout = ((ms?: number, ...rest: []) => realDelay(shorter(ms), ...rest)) as typeof realDelay;
syncBuiltinESMExports();

const report = process.env['ATTACK_REPORT'];
if (report) {
  const gauge = new Gauge();
  process.once('exit', () => writeFileSync(report, JSON.stringify(gauge.stop())));
}

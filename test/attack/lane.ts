/** A driven process and its enemy. A case that breaks the process is a failure, and the next gets a new one. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { AUTO, RUN } from './mcpCases.ts';
import type { Case } from './spec.ts';
import { CALL_EVENT, CONFIGS, models } from './templates.ts';
import type { Shot } from './victim.ts';

const MAX_MS = 90_000;
const REPEATS = 3;
const WARM_UP = ([[...RUN, ...AUTO], 'probe'] as const).map(
  (command): Case => ({
    kind: 'http',
    files: { 'mcp.json': CONFIGS.http, 'models.json': models('openai-compatible') },
    answers: {},
    replies: [{ events: [CALL_EVENT] }],
    command,
  }),
);

export class Lane implements AsyncDisposable {
  #enemy: { readonly process: ChildProcess; readonly env: NodeJS.ProcessEnv } | undefined;
  #victim: ChildProcess | undefined;
  #isDisposed = false;
  #running: Promise<unknown> = Promise.resolve();

  async shoot(attack: Case): Promise<Shot> {
    if (this.#isDisposed) return NOTHING;
    const running = this.#shoot(attack);
    this.#running = running.catch(() => undefined);
    return running;
  }

  async #shoot(attack: Case): Promise<Shot> {
    return this.#fire(await this.#start(), attack);
  }

  async #fire(victim: ChildProcess, attack: Case): Promise<Shot> {
    if (!victim.connected) return failure('crash: the process has ended');
    const ended = new AbortController();
    try {
      const answered = once(victim, 'message', { signal: ended.signal }).then(([shot]) => shot as Shot);
      const broken = once(victim, 'exit', { signal: ended.signal }).then(([code, signal]) =>
        failure(`crash: the process ended with ${code ?? signal}`),
      );
      const late = sleep(MAX_MS, failure('hang: the process did not answer'), { signal: ended.signal });
      for (const promise of [answered, broken, late]) promise.catch(() => undefined);
      victim.send(attack);
      const shot = await Promise.race([answered, broken, late]);
      if (shot.failures.some((each) => /^(crash|hang)/.test(each))) await this.#endVictim();
      return shot;
    } finally {
      ended.abort();
    }
  }

  /** A failure happens every time: a single one may come from the load of the machine. */
  async shootSurely(attack: Case): Promise<Shot> {
    let shot = await this.shoot(attack);
    for (let again = 1; again < REPEATS && shot.failures.length > 0; again += 1) {
      // In a new process, in which nothing of an earlier case is left.
      if (again === 1) await this.#endVictim();
      shot = await this.shoot(attack);
    }
    return shot;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#running;
    await this.#endVictim();
    await end(this.#enemy?.process);
  }

  async #start(): Promise<ChildProcess> {
    if (!this.#enemy) {
      const enemy = start('enemy.ts', process.env);
      const [ports] = (await once(enemy, 'message')) as [{ enemy: number; canary: number }];
      const env = {
        ATTACK_ENEMY: `http://127.0.0.1:${ports.enemy}`,
        ATTACK_CANARY: `http://127.0.0.1:${ports.canary}`,
      };
      this.#enemy = { process: enemy, env: { ...process.env, ...env } };
    }
    if (this.#victim) return this.#victim;
    const victim = start('victim.ts', this.#enemy.env);
    this.#victim = victim;
    // So that loading and compiling are not counted.
    for (const attack of WARM_UP) await this.#fire(victim, attack);
    return victim;
  }

  async #endVictim(): Promise<void> {
    const victim = this.#victim;
    this.#victim = undefined;
    await end(victim);
  }
}

const NOTHING: Shot = { failures: [], stallMs: 0, grownBytes: 0 };

function failure(reason: string): Shot {
  return { ...NOTHING, failures: [reason] };
}

function start(file: string, env: NodeJS.ProcessEnv): ChildProcess {
  const execArgv = ['--expose-gc', '--disable-warning=ExperimentalWarning'];
  return fork(join(import.meta.dirname, file), {
    env,
    execArgv,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
}

async function end(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

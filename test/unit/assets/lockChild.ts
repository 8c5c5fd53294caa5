/** A separate process that takes locks: `node lockChild.ts TASK CHAT FOLDER`. It prints the outcome as JSON. */
import { appendFileSync } from 'node:fs';
import { acquireLock } from '../../../src/assets/chatLock.ts';

const [task = '', chat = '', folder = '', log = ''] = process.argv.slice(2);
const take = () => acquireLock(chat, { who: 'a child', folders: [folder] });
const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
const ROUNDS = 30;

const tasks: Readonly<Record<string, () => Promise<void>>> = {
  /** Keeps the lock until its input ends, then releases it. */
  async keep() {
    const lock = await take();
    say('holder' in lock ? lock.holder : 'held');
    for await (const _ of process.stdin);
    if ('release' in lock) await lock.release();
  },

  /** Ends without a release. */
  async exit() {
    const lock = await take();
    say('holder' in lock ? lock.holder : 'held');
    process.exit(0);
  },

  /** Takes it repeatedly, and records when it got and released it. */
  async race() {
    let held = 0;
    while (held < ROUNDS) {
      const lock = await take();
      if (!('release' in lock)) continue;
      held += 1;
      appendFileSync(log, `in ${process.pid}\n`);
      await new Promise(setImmediate);
      appendFileSync(log, `out ${process.pid}\n`);
      await lock.release();
    }
    say(held);
  },
};

await tasks[task]?.();

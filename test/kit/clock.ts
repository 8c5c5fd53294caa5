/**
 * The clock of a virtual machine may be set back while tests run. Until it has caught up, VS Code takes each file that
 * it saves for one that somebody else has changed: it reads the file again, and drops what is typed at that moment.
 */
import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY_MS = 200;
/** Corrections of this size are nothing unusual, and files have no finer times. */
const IGNORED_MS = 20;
/** A test has to end in time itself. A clock that needs longer is left as it is. */
const MAX_WAIT_MS = 30_000;

export interface ClockWatch extends Disposable {
  /** By how much the clock was set back, in all. */
  readonly setBackMs: number;
  /** Resolves when it is as late as it has ever been. */
  caughtUp(): Promise<void>;
}

export function watchClock(): ClockWatch {
  let latest = Date.now();
  let last = latest;
  let setBackMs = 0;
  const look = () => {
    const now = Date.now();
    if (now < last - IGNORED_MS) setBackMs += last - now;
    last = now;
    latest = Math.max(latest, now);
  };
  const timer = setInterval(look, LOOK_EVERY_MS).unref();
  return {
    get setBackMs() {
      look();
      return setBackMs;
    },
    async caughtUp() {
      look();
      const until = performance.now() + Math.min(latest - Date.now(), MAX_WAIT_MS);
      while (Date.now() < latest && performance.now() < until) await delay(LOOK_EVERY_MS);
      latest = Date.now();
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

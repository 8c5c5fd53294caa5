import { setTimeout as delay } from 'node:timers/promises';

const LOOK_EVERY_MS = 20;
/** Much longer than anything takes, so that a test fails instead of hanging. */
const LIMIT_MS = 60_000;

/** Waits for something that raises no event, such as a change on the disk by another process. */
export async function until(
  isSo: () => boolean | Promise<boolean>,
  otherwise = () => 'It did not happen.',
): Promise<void> {
  const startedAt = performance.now();
  while (!(await isSo())) {
    if (performance.now() - startedAt > LIMIT_MS) throw new Error(otherwise());
    await delay(LOOK_EVERY_MS);
  }
}

/** Runs the test files in its arguments in one process. */
import { resolve, sep } from 'node:path';
import { after, describe } from 'node:test';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) {
  const load = () => import(pathToFileURL(resolve(file)).href);
  // UI tests share a window that ends with the last of them, so their hooks belong to the process.
  if (resolve(file).includes(`${sep}ui${sep}`)) await load();
  else
    await describe(file, async () => {
      // A test may wait for a timer that does not keep the process alive.
      const alive = setInterval(() => undefined, 60_000);
      after(() => clearInterval(alive));
      await load();
    });
}

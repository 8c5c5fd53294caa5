/** Runs the test files in its arguments in one process. Their hooks belong to the process: they share a window. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href);

/** Work for the end of a process that may run many test files, one after the other. */
import { after } from 'node:test';

type Work = () => Promise<void> | void;

let collected: Work[] | undefined;

/** Call it once, outside of any suite: from then on, the work waits for the end of the last file. */
export function runManyFiles(): void {
  const works: Work[] = [];
  collected = works;
  after(async () => {
    for (const work of works) await work();
  });
}

/** Runs at the end of the process. In a process of one file, that is the end of the file. */
export function atEnd(work: Work): void {
  if (collected) collected.push(work);
  else after(work);
}

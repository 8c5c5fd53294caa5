import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../base/errors.ts';
import { selectText } from './documentText.ts';
import { ConversionError, type Job, type Outcome } from './job.ts';

const MAX_REASON_CHARS = 200;

if (parentPort !== null) {
  const port = parentPort;
  const work = await load(workerData);
  port.postMessage('ready');
  port.postMessage(await attempt(work));
}

/** Loads only the library that the job needs. */
async function load(job: Job): Promise<() => Promise<Outcome>> {
  if (job.kind === 'image') {
    const { convertImage, loadPhoton } = await import('./image.ts');
    await loadPhoton();
    return async () => ({ kind: 'image', images: convertImage(job) });
  }
  const { loadReader } = await import('./documents/readers.ts');
  const read = await loadReader(job.reader);
  return async () => ({ kind: 'document', document: selectText(await read(job), job.pages) });
}

async function attempt(work: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await work();
  } catch (error) {
    const reason = messageOf(error).replace(/\s+/g, ' ').slice(0, MAX_REASON_CHARS);
    return {
      kind: 'failed',
      reason: error instanceof ConversionError ? reason : `it is damaged (${reason})`,
    };
  }
}

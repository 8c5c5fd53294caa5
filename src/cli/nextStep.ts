import { billingPage } from '../model/failures.ts';
import type { Failure, FailureKind } from '../ports/failures.ts';
import { toVariable } from './client.ts';

/** What to do about a failed run, as a sentence for the terminal. Undefined if the reason says so itself. */
export function nextStep(failure: Failure): string | undefined {
  const isOurs = failure.host === undefined && failure.kind !== 'server';
  return isOurs ? undefined : STEPS[failure.kind](failure);
}

const ANOTHER_MODEL = 'choose another model with --model';

const STEPS: Readonly<Record<FailureKind, (failure: Failure) => string>> = {
  key: ({ name }) => `Set ${keyVariable(name)} to a valid key, then run again.`,
  access: ({ name }) => `Use a key with access to this model (${keyVariable(name)}), or ${ANOTHER_MODEL}.`,
  model: () => 'Choose another model with --model, or correct it in the models file.',
  rateLimit: () => `Wait and run again, or ${ANOTHER_MODEL}.`,
  overloaded: () => `Wait and run again, or ${ANOTHER_MODEL}.`,
  credit: (failure) => {
    const page = billingPage(failure);
    return page === undefined
      ? `Add credit, or ${ANOTHER_MODEL}.`
      : `Add credit at ${page}, or ${ANOTHER_MODEL}.`;
  },
  unreachable: () => 'Start the server or correct the baseUrl, then run again.',
  certificate: () => 'Correct the baseUrl, or install the certificate, then run again.',
  lost: () => 'Run again to continue.',
  tooLong: () => `Remove turns or attachments from the chat, or ${ANOTHER_MODEL}.`,
  format: () => 'Correct the provider and baseUrl of the model.',
  failed: () => `Run again later, or ${ANOTHER_MODEL}.`,
  refused: () => `Change the chat, or ${ANOTHER_MODEL}.`,
  server: ({ server = '' }) => `Correct the entry “${server}” in the servers file, then run again.`,
};

function keyVariable(name = 'NAME'): string {
  return `FILECHAT_KEY_${toVariable(name)}`;
}

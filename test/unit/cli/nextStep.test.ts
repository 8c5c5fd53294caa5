import assert from 'node:assert/strict';
import { it } from 'node:test';
import { nextStep } from '../../../src/cli/commands.ts';
import type { Failure } from '../../../src/ports/failures.ts';

const CASES: readonly (readonly [Failure, string | undefined])[] = [
  [
    { kind: 'key', host: 'example.com', name: 'my-gpt' },
    'Set FILECHAT_KEY_MY_GPT to a valid key, then run again.',
  ],
  [{ kind: 'model', reason: 'There is no model “x”. Name one with --model.' }, undefined],
  [
    { kind: 'model', host: 'example.com' },
    'Choose another model with --model, or correct it in the models file.',
  ],
  [
    { kind: 'credit', host: 'api.deepseek.com' },
    'Add credit at https://platform.deepseek.com/top_up, or choose another model with --model.',
  ],
  [{ kind: 'credit', host: 'example.com' }, 'Add credit, or choose another model with --model.'],
  [{ kind: 'unreachable', host: 'example.com' }, 'Start the server or correct the baseUrl, then run again.'],
  [{ kind: 'server', server: 'weather' }, 'Correct the entry “weather” in the servers file, then run again.'],
];

for (const [failure, step] of CASES) {
  it(`${failure.kind}: ${step}`, () => assert.equal(nextStep(failure), step));
}

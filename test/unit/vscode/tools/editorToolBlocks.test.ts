import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { blocksOf } from '../../../../src/vscode/tools/editorToolBlocks.ts';

const BYTES = new Uint8Array([0, 255, 1, 2]).subarray(1);
const utf8 = (words: string) => new TextEncoder().encode(words);

/** Like some classes of VS Code, with its value behind a getter. */
class Held {
  readonly #value: unknown;

  constructor(value: unknown) {
    this.#value = value;
  }

  get value(): unknown {
    return this.#value;
  }
}

describe('the result of a VS Code tool', () => {
  const blob = (data: string, mimeType: string) => ({
    type: 'resource',
    resource: { uri: '', blob: data, mimeType },
  });
  const cases: readonly [name: string, part: unknown, expected: object][] = [
    ['text', { value: 'Hi' }, { type: 'text', text: 'Hi' }],
    ['text in a class', new Held('Hi'), { type: 'text', text: 'Hi' }],
    [
      'an image',
      { data: BYTES, mimeType: 'image/png' },
      { type: 'image', data: '/wEC', mimeType: 'image/png' },
    ],
    ['audio', { data: BYTES, mimeType: 'audio/wav' }, { type: 'audio', data: '/wEC', mimeType: 'audio/wav' }],
    ['any other bytes', { data: BYTES, mimeType: 'application/pdf' }, blob('/wEC', 'application/pdf')],
    ['JSON', { data: utf8('{"a":1}'), mimeType: 'application/json' }, { type: 'text', text: '{"a":1}' }],
    ['text as data', { data: utf8('é'), mimeType: 'text/plain' }, { type: 'text', text: 'é' }],
    ['bytes that claim to be text', { data: BYTES, mimeType: 'text/plain' }, blob('/wEC', 'text/plain')],
    ['a prompt element', { value: { node: { type: 1 } } }, { type: 'text', text: '{"node":{"type":1}}' }],
    ['an unknown kind of part', { kind: 'new' }, { type: 'text', text: '{"kind":"new"}' }],
    ['no part at all', undefined, { type: 'text', text: 'undefined' }],
  ];
  for (const [name, part, expected] of cases) {
    it(name, () => assert.deepEqual(blocksOf([part]), [expected]));
  }
});

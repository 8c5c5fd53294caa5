import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { AssistantPart, ContentPart, FilePart, ModelMessage } from '../../../../src/ports/models.ts';
import { editorMessages, previewMessages, textOf } from '../../../../src/vscode/model/editorMessages.ts';

const read = () => assert.fail('The file must not be read.');
const file: FilePart = { kind: 'file', name: 'a.png', mimeType: 'image/png', size: 2048, read };
const say = (text: string) => ({ kind: 'text' as const, text });
const user = (...parts: readonly ContentPart[]): ModelMessage => ({ role: 'user', parts });
const assistant = (...parts: readonly AssistantPart[]): ModelMessage => ({ role: 'assistant', parts });
const tool = (...parts: readonly ContentPart[]): ModelMessage => ({
  role: 'tool',
  results: [{ id: 'c1', name: 'a__b', isError: false, parts }],
});
const convert = (system: string, messages: readonly ModelMessage[], acceptsImages = true) =>
  editorMessages({ system, messages, tools: [] }, () => acceptsImages);

describe('messages for VS Code’s language models', () => {
  const image = { kind: 'image', name: 'a.png', mimeType: 'image/png', data: '(2048 bytes)' };
  const unsent = say('[a.png: image/png, 2.0 KB; not sent to this model]');
  const result = { kind: 'result', id: 'c1', content: [say('T'), image] };
  type Case = readonly [
    rule: string,
    messages: ReturnType<typeof convert>,
    ...expected: (readonly [string, unknown])[],
  ];
  const cases: readonly Case[] = [
    [
      'the system prompt is the first user message',
      convert('S', [user(say('U'))]),
      ['user', say('S')],
      ['user', say('U')],
    ],
    ['empty text is not sent', convert(' \n', [user(say('')), assistant()])],
    ['an accepted file is sent as an image', convert('', [user(file)]), ['user', image]],
    ['any other file is described by a line', convert('', [user(file)], false), ['user', unsent]],
    [
      'reasoning is not sent',
      convert('', [assistant({ kind: 'reasoning', text: 'R' }, say('A'))]),
      ['assistant', say('A')],
    ],
    ['an image of a result stays in the result', convert('', [tool(say('T'), file)]), ['user', result]],
  ];
  for (const [rule, messages, ...expected] of cases) {
    it(rule, () => {
      const preview = expected.map(([role, part]) => ({ role, content: [part] }));
      assert.deepEqual(previewMessages(messages), preview);
    });
  }

  it('their text is the text of all parts, without bytes', () => {
    const call = { kind: 'call' as const, id: 'c1', name: 'a__b', arguments: { x: 1 } };
    const messages = convert('S', [assistant(say('A'), call), tool(say('T'), file)]);
    assert.equal(textOf(messages), 'S\nA\na__b\n{"x":1}\nT\n');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FilePart, ModelMessage, ModelRequest } from '../../../../src/ports/models.ts';
import { editorMessages, previewMessages, textOf } from '../../../../src/vscode/model/editorMessages.ts';

const picture: FilePart = {
  kind: 'file',
  name: 'a.png',
  mimeType: 'image/png',
  size: 2048,
  read: () => assert.fail('Nobody may read it.'),
};
const say = (text: string) => ({ kind: 'text' as const, text });
const request = (system: string, ...messages: ModelMessage[]): ModelRequest => ({
  system,
  messages,
  tools: [],
});
const preview = (asked: ModelRequest, images = true) => previewMessages(editorMessages(asked, () => images));

describe('messages for VS Code’s language models', () => {
  const image = { kind: 'image', name: 'a.png', mimeType: 'image/png', data: '(2048 bytes)' };
  const cases: readonly [name: string, got: unknown, expected: unknown][] = [
    [
      'the system prompt is the first user message',
      preview(request('S', { role: 'user', parts: [say('U')] })),
      [
        { role: 'user', content: [say('S')] },
        { role: 'user', content: [say('U')] },
      ],
    ],
    [
      'empty text is not sent',
      preview(request(' \n', { role: 'user', parts: [say('')] }, { role: 'assistant', parts: [] })),
      [],
    ],
    [
      'an accepted file is sent as an image',
      preview(request('', { role: 'user', parts: [picture] })),
      [{ role: 'user', content: [image] }],
    ],
    [
      'any other file is described by a line',
      preview(request('', { role: 'user', parts: [picture] }), false),
      [{ role: 'user', content: [say('[a.png: image/png, 2.0 KB; not sent to this model]')] }],
    ],
    [
      'reasoning is not sent',
      preview(request('', { role: 'assistant', parts: [{ kind: 'reasoning', text: 'R' }, say('A')] })),
      [{ role: 'assistant', content: [say('A')] }],
    ],
    [
      'an image of a result stays in the result',
      preview(
        request('', {
          role: 'tool',
          results: [{ id: 'c1', name: 'n', isError: false, parts: [say('T'), picture] }],
        }),
      ),
      [{ role: 'user', content: [{ kind: 'result', id: 'c1', content: [say('T'), image] }] }],
    ],
  ];
  for (const [name, got, expected] of cases) it(name, () => assert.deepEqual(got, expected));

  it('their text is the text of all parts, without bytes', () => {
    const call = { kind: 'call' as const, id: 'c1', name: 'a__b', arguments: { x: 1 } };
    const result = { id: 'c1', name: 'a__b', isError: false, parts: [say('T'), picture] };
    const asked = request(
      'S',
      { role: 'assistant', parts: [say('A'), call] },
      { role: 'tool', results: [result] },
    );
    assert.equal(textOf(editorMessages(asked, () => true)), 'S\nA\na__b\n{"x":1}\nT\n');
  });
});

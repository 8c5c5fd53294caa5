import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hasFeature, leaveOut } from '../../../../src/model/providers/refusals.ts';
import type { FilePart, ModelRequest, RequestFeature } from '../../../../src/ports/models.ts';
import { showMessages, TOOLS } from '../request/requests.ts';

const file = (name: string, mimeType: string): FilePart => ({
  kind: 'file',
  name,
  mimeType,
  size: 2000,
  read: () => Promise.reject(new Error('A file that is not sent is not read.')),
});
const text = (words: string) => ({ kind: 'text', text: words }) as const;
const call = (id: string) => ({ kind: 'call', id, name: 'charts__bar', arguments: { x: 1 } }) as const;

const FULL: ModelRequest = {
  system: 'Be terse.',
  messages: [
    {
      role: 'user',
      parts: [text('Plot this.'), file('a.pdf', 'application/pdf'), file('a.png', 'image/png')],
    },
    { role: 'assistant', parts: [text('Two charts.'), call('c1'), call('c2')] },
    {
      role: 'tool',
      results: [
        {
          id: 'c1',
          name: 'charts__bar',
          isError: false,
          parts: [text('[asset:b.png]'), file('b.png', 'image/png')],
        },
        { id: 'c2', name: 'charts__bar', isError: true, parts: [text('No data.')] },
      ],
    },
    { role: 'user', parts: [text('And?')] },
  ],
  tools: TOOLS,
  temperature: 0.5,
};

const CASES: Readonly<Record<RequestFeature, string>> = {
  images: `user
  Plot this.
  <application/pdf a.pdf>
  [a.png: image/png, 2.0 KB; this model does not accept such files]
assistant
  text: Two charts.
  call c1 charts__bar {"x":1}
  call c2 charts__bar {"x":1}
tool
  result c1 charts__bar
    [asset:b.png]↵↵[b.png: image/png, 2.0 KB; this model does not accept such files]
  result c2 charts__bar (error)
    No data.
user
  And?`,
  documents: showMessages(FULL).replace(
    '  Plot this.\n  <application/pdf a.pdf>',
    '  Plot this.↵↵[a.pdf: application/pdf, 2.0 KB; this model does not accept such files]',
  ),
  tools: `user
  Plot this.
  <application/pdf a.pdf>
  <image/png a.png>
assistant
  text: Two charts.↵↵[Called the tool charts__bar with {"x":1}]↵↵[Called the tool charts__bar with {"x":1}]
user
  [Result of the tool charts__bar]
  [asset:b.png]
  <image/png b.png>
  [Result of the tool charts__bar]
  The tool reported an error:
  No data.
  And?`,
  system: showMessages(FULL).replace('user\n', 'user\n  Be terse.\n'),
  temperature: showMessages(FULL),
  streaming: showMessages(FULL),
};

describe('a request without', () => {
  for (const [name, expected] of Object.entries(CASES)) {
    const feature = name as RequestFeature;
    it(`${feature} keeps everything else`, () => {
      const rest = leaveOut(FULL, [feature]);
      assert.equal(showMessages(rest), expected);
      const others = Object.keys(CASES).filter((each) => hasFeature(rest, each as RequestFeature));
      assert.deepEqual(
        others,
        Object.keys(CASES).filter((each) => each !== feature),
      );
    });
  }

  it('all of them is plain text, in any order', () => {
    const features = Object.keys(CASES) as RequestFeature[];
    const rests = [features, features.toReversed()].map((each) => leaveOut(FULL, each));
    for (const { system, tools, temperature, isWhole, messages } of rests) {
      assert.deepEqual([system, tools, temperature, isWhole], ['', [], undefined, true]);
      assert.deepEqual(
        messages.map(({ role }) => role),
        ['user', 'assistant', 'user'],
      );
      assert.deepEqual(leaveOut(FULL, []), FULL);
    }
  });
});

it('a text-only model gets one text where several followed each other, because it may accept only a string', () => {
  const messages = [{ role: 'user', parts: [text('One.'), text('Two.')] }] as const;
  assert.equal(showMessages(leaveOut({ ...FULL, messages }, ['images'])), 'user\n  One.↵↵Two.');
});

it('a system prompt becomes the first message if the conversation does not begin with the user', () => {
  const messages = [{ role: 'assistant', parts: [text('Hello.')] }] as const;
  const rest = leaveOut({ ...FULL, messages }, ['system']);
  assert.equal(showMessages(rest), 'user\n  Be terse.\nassistant\n  text: Hello.');
});

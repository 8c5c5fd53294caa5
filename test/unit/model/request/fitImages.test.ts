import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fitImages } from '../../../../src/model/request/fitImages.ts';
import type { ContentPart, FilePart, ModelRequest } from '../../../../src/ports/models.ts';
import { makePng } from '../../../kit/documents.ts';

const SMALL = makePng(10, 10);
const never = new AbortController().signal;

const image = (name: string, bytes = SMALL, mimeType = 'image/png'): FilePart => ({
  kind: 'file',
  name,
  mimeType,
  size: bytes.length,
  read: async () => bytes,
});

const ask = (...parts: readonly ContentPart[]): ModelRequest => ({
  system: '',
  tools: [],
  messages: [{ role: 'user', parts }],
});

async function fitted(provider: string, ...parts: readonly ContentPart[]): Promise<readonly string[]> {
  const { messages } = await fitImages(ask(...parts), provider, never);
  return messages.flatMap((message) =>
    message.role === 'user'
      ? message.parts.map((part) => (part.kind === 'text' ? part.text : `${part.mimeType} ${part.name}`))
      : [],
  );
}

describe('the images of a request', () => {
  it('that fit leave the request as it is', async () => {
    const request = ask(image('a.png'));
    assert.deepEqual(await fitImages(request, 'anthropic', never), request);
    const text = ask({ kind: 'text', text: 'hi' });
    assert.equal(await fitImages(text, 'anthropic', never), text);
  });

  it('that are too many are described, the oldest first', async () => {
    const all = Array.from({ length: 52 }, (_, at) => image(`${at}.png`));
    const parts = await fitted('openai', ...all);
    assert.equal(parts.length, 52);
    for (const part of parts.slice(0, 2))
      assert.match(part, /not shown: a request can have at most 50 images\]$/);
    assert.deepEqual(parts.slice(2, 4), ['image/png 2.png', 'image/png 3.png']);
  });

  it('count by their slices', async () => {
    const tall = makePng(100, 4000);
    const all = Array.from({ length: 18 }, (_, at) => image(`${at}.png`, tall));
    const parts = await fitted('openai', ...all);
    assert.equal(parts.filter((part) => part.startsWith('image/')).length, 48);
    assert.equal(parts.filter((part) => part.includes('not shown')).length, 2);
  });

  it('that cannot be read are left to the request, which names them', async () => {
    const gone = { ...image('a.png'), read: () => Promise.reject(new Error('gone')) };
    assert.deepEqual(await fitted('openai', gone), ['image/png a.png']);
  });

  it('of other types are left to the request, too', async () => {
    assert.deepEqual(await fitted('openai', image('a.svg', SMALL, 'image/svg+xml')), ['image/svg+xml a.svg']);
  });
});

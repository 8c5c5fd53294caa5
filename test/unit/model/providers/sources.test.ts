import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { EventReader } from '../../../../src/model/providers/events.ts';
import { type SdkProvider, wireOf } from '../../../../src/model/providers/wire.ts';

const source = (url: string, title?: string, providerMetadata?: object) => ({
  type: 'source',
  sourceType: 'url',
  id: url,
  url,
  title,
  providerMetadata,
});
const text = (...pieces: readonly object[]) => [
  { type: 'text-start', id: 't' },
  ...pieces,
  { type: 'text-end', id: 't' },
];
const words = (delta: string) => ({ type: 'text-delta', id: 't', delta });
const FINISH = {
  type: 'finish',
  finishReason: { unified: 'stop' },
  usage: { inputTokens: {}, outputTokens: {} },
};

/** The text of a reply with these parts. */
function read(provider: SdkProvider, parts: readonly object[]): string {
  const reader = new EventReader(wireOf({ provider }), { host: 'h', model: 'm', secrets: [] });
  return [...parts, FINISH]
    .flatMap((part) => reader.read(part as LanguageModelV4StreamPart))
    .map((event) => (event.kind === 'text' ? event.text : ''))
    .join('');
}

const cited = { anthropic: { citedText: '8 million' } };

describe('the sources of a reply', () => {
  it('are numbered after the text that cites them, and listed once below it', () => {
    const parts = [
      ...text(words('London is big'), source('https://a.example/x', 'A', cited)),
      ...text(
        words(', and old'),
        source('https://b.example/', 'B', cited),
        source('https://a.example/x', 'A', cited),
      ),
      ...text(words('.')),
    ];
    assert.equal(
      read('anthropic', parts),
      'London is big [1](https://a.example/x), and old [2](https://b.example/) [1](https://a.example/x).\n\nSources:\n\n1. [A](https://a.example/x)\n2. [B](https://b.example/)',
    );
  });

  it('are not repeated after a text that links to them itself', () => {
    const parts = text(words('See [a](https://a.example/).'), source('https://a.example/', 'A'));
    assert.equal(
      read('openai', parts),
      'See [a](https://a.example/).\n\nSources:\n\n1. [A](https://a.example/)',
    );
  });

  const raw = (rawValue: object) => ({ type: 'raw', rawValue });

  it('of OpenRouter are in the pieces of the text', () => {
    const annotations = [
      { type: 'url_citation', url_citation: { url: 'https://a.example/x', title: 'A', content: 'big' } },
    ];
    const parts = text(words('London is big'), raw({ choices: [{ delta: { content: '', annotations } }] }));
    assert.equal(
      read('openai-compatible', parts),
      'London is big [1](https://a.example/x)\n\nSources:\n\n1. [A](https://a.example/x)',
    );
  });

  it('whose numbers the text has are listed in their order', () => {
    const chunk = {
      choices: [{ delta: { content: 'x' } }],
      citations: ['https://a.example/x', 'https://b.example/y'],
    };
    const titled = { ...chunk, search_results: [{ url: 'https://a.example/x', title: 'A' }] };
    const list = (given: object) =>
      read('openai-compatible', text(words('London is big[1][2].'), raw(given), raw(given))).split('\n\n');
    assert.deepEqual(list(chunk), [
      'London is big[1][2].',
      'Sources:',
      '1. [https://a.example/x](https://a.example/x)\n2. [https://b.example/y](https://b.example/y)',
    ]);
    assert.deepEqual(list(titled).at(-1), '1. [A](https://a.example/x)');
  });

  it('do not include what a search found and the text does not cite', () => {
    const found = source('https://a.example/', 'A', { anthropic: { pageAge: null } });
    assert.equal(read('anthropic', [found, ...text(words('Hm.'))]), 'Hm.');
  });

  it('of thousands of pages are looked for in the beginning of a long text, and cut', () => {
    const pages = Array.from({ length: 20_000 }, (_, at) => source(`https://a.example/${at}`, 'A'));
    const reply = read('google', text(words('https://a.example/ '.repeat(200_000)), ...pages));
    assert.equal(reply.match(/^\d+\. /gm)?.length, 500);
  });

  it('have a title of any length', () => {
    const reply = read('google', [...text(words('a')), source('https://a.example/', 'x'.repeat(30_000_000))]);
    assert.equal(reply, `a\n\nSources:\n\n1. [${'x'.repeat(120)}](https://a.example/)`);
  });

  for (const [url, title, line] of [
    ['javascript:alert(1)', 'A [b](c)', 'A b (c)'],
    ['file:///etc/passwd', '', 'file:///etc/passwd'],
    ['https://a.example/(x)!y', '![x](y)\n# %% user', '[x (y) user](https://a.example/%28x%29%21y)'],
    ['https://user:pass@a.example/', '<img src=x>', 'img src x'],
  ] as const) {
    it(`cannot become anything but a web link: ${url}`, () => {
      assert.equal(read('google', [...text(words('a')), source(url, title)]), `a\n\nSources:\n\n1. ${line}`);
    });
  }
});

/** Files that a reply shows until their next version arrives. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ModelEvent } from '../../../src/ports/models.ts';
import type { AssetStore } from '../../../src/ports/results.ts';
import {
  type Answer,
  failure,
  finish,
  HI,
  hang,
  type MemoryDocument,
  play,
  scene,
  text,
} from './scriptedChat.ts';

/** Files in memory, named by their text. */
function memory() {
  const files = new Set<string>();
  const assets: AssetStore = {
    beginResult: ({ counts = new Map() } = {}) => ({
      spillFolder: () => Promise.reject(new Error('nothing is spilled here')),
      save: async ({ kind, bytes }) => {
        const path = `cmdassets/model-image-20261116-093012-${Buffer.from(bytes as Uint8Array).subarray(8)}-1.png`;
        files.add(path);
        return { number: (counts.get(kind) ?? 0) + 1, path };
      },
      removePartial: async (path) => void files.delete(path),
    }),
  };
  return { assets, names: () => [...files].map((path) => path.split('-')[4]) };
}

const PNG_SIGN = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);

/** The text of an image is part of its name, as if it were the id of its result. */
const image = (name: string, isPartial = false): ModelEvent => ({
  kind: 'file',
  isPartial,
  file: {
    block: 'image',
    read: async () => ({ kind: 'bytes', bytes: Buffer.concat([PNG_SIGN, Buffer.from(name)]) }),
  },
});
const partial = (name: string) => image(name, true);
const link = (name: string, number = 1) =>
  `![Model generated image ${number}](cmdassets/model-image-20261116-093012-${name}-1.png)`;
const UNFINISHED = '> ⚠ The image above is not finished: its last version did not arrive.';
const replyOf = (chat: string) => chat.slice(chat.indexOf('# %% assistant\n') + 15).split('\n\n# %% user')[0];

/** Shows a file, then acts when it is in the document. */
const showing = (name: string, act: (document: MemoryDocument) => void, ...more: ModelEvent[]): Answer =>
  async function* ({ document }) {
    yield partial(name);
    await document.holds(link(name));
    act(document);
    yield* more;
  };

describe('a partial file', () => {
  const orders: readonly (readonly [
    rule: string,
    events: readonly ModelEvent[],
    reply: string,
    files: string[],
  ])[] = [
    ['alone is replaced', [partial('First00000'), image('Whole00000')], link('Whole00000'), ['Whole00000']],
    [
      'stays below words that come before the next version',
      [
        text('One.'),
        partial('First00000'),
        text('Two.'),
        partial('Second0000'),
        image('Whole00000'),
        text('End.'),
      ],
      `One.\n\nTwo.\n\n${link('Whole00000')}\n\nEnd.`,
      ['Whole00000'],
    ],
    [
      'follows reasoning, which is closed',
      [{ kind: 'reasoning', text: 'Hm.' }, partial('First00000'), text('No.')],
      `<details><summary>Reasoning</summary>\n\n\`\`\`\`reasoning\nHm.\n\`\`\`\`\n\n</details>\n\nNo.\n\n${link('First00000')}\n\n${UNFINISHED}`,
      ['First00000'],
    ],
    [
      'is counted once, however many versions it has',
      [partial('First00000'), partial('Second0000'), image('Whole00000'), image('Other00000')],
      `${link('Whole00000')}\n\n${link('Other00000', 2)}`,
      ['Whole00000', 'Other00000'],
    ],
  ];
  for (const [rule, events, reply, files] of orders) {
    it(rule, async () => {
      const { assets, names } = memory();
      const { after, outcome } = await play(HI, [() => [...events, finish()]], { assets });
      assert.ok(outcome.ok, JSON.stringify(outcome));
      assert.equal(replyOf(after), reply);
      assert.deepEqual(names(), files);
      assert.equal(outcome.assets.length, files.length);
    });
  }

  it('is shown before its next version is there, also with Windows line ends', async () => {
    const { assets, names } = memory();
    const seen: string[] = [];
    const look = (document: MemoryDocument) => seen.push(document.text());
    const { after } = await play(
      HI.replaceAll('\n', '\r\n'),
      [showing('First00000', look, image('Whole00000'), finish())],
      { assets },
    );
    assert.match(
      seen[0] ?? '',
      /assistant\r\n!\[Model generated image 1\]\([^)]+First00000-1\.png\)\r\n<!-- filechat:writing/,
    );
    assert.equal(after.match(/!\[/g)?.length, 1);
    assert.ok(after.includes(`assistant\r\n${link('Whole00000')}\r\n`), after);
    assert.deepEqual(names(), ['Whole00000']);
  });

  it('that the user has taken out of the text does not come between the words', async () => {
    const { assets } = memory();
    const remove = (document: MemoryDocument) =>
      document.type((chat) => chat.replace(link('First00000'), 'Mine.'));
    const { after } = await play(HI, [showing('First00000', remove, image('Whole00000'), finish())], {
      assets,
    });
    assert.match(replyOf(after) ?? '', /^Mine\.\s*!\[Model generated image 1\]\([^)]+Whole00000-1\.png\)$/);
  });

  it('stays if the run is stopped, and says so', async () => {
    const { assets, names } = memory();
    const { listener, document } = scene(
      HI,
      [
        async function* ({ signal }) {
          yield partial('First00000');
          await hang(signal);
        },
      ],
      { assets },
    );
    const running = listener.run();
    await document.holds(link('First00000'));
    listener.stop();
    await running;
    assert.equal(
      replyOf(document.text()),
      `${link('First00000')}\n\n${UNFINISHED}\n<!-- filechat:interrupted stopped -->`,
    );
    assert.deepEqual(names(), ['First00000']);
  });

  it('is replaced by the next attempt, to which it was not mentioned', async () => {
    const { assets, names } = memory();
    const broken: Answer = async function* ({ document }) {
      yield text('I draw it now.');
      yield partial('First00000');
      await document.holds(link('First00000'));
      throw failure();
    };
    const again: Answer = () => [
      text('I draw it now.'),
      partial('Second0000'),
      image('Whole00000'),
      finish(),
    ];
    const { after, model } = await play(HI, [broken, again], { assets });
    assert.equal(replyOf(after), `I draw it now.\n\n${link('Whole00000')}`);
    assert.deepEqual(names(), ['Whole00000']);
    assert.doesNotMatch(JSON.stringify(model.asked[1]?.request), /First00000/);
  });

  it('of an attempt that only thought goes with its thoughts', async () => {
    const { assets } = memory();
    const thinks = (words: string): ModelEvent => ({ kind: 'reasoning', text: words });
    const broken: Answer = async function* ({ document }) {
      yield thinks('Hm.');
      yield partial('First00000');
      await document.holds(link('First00000'));
      throw failure();
    };
    const again: Answer = () => [thinks('Hm again.'), image('Whole00000'), finish()];
    const { after } = await play(HI, [broken, again], { assets });
    assert.doesNotMatch(after, /Hm\.|First00000/);
    assert.match(after, /Hm again\.[\s\S]+Whole00000-1\.png\)/);
  });
});

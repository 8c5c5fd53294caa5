import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUDGET } from '../../../src/base/budget.ts';
import { processMixedToolResult } from '../../../src/mcpClient.ts';
import type { ResultPart } from '../../../src/ports/results.ts';
import { readToolResult, renderToolResult } from '../../../src/result/markdown.ts';
import { limitText } from '../../../src/result/modelView.ts';
import { limitMessages, limitTotal } from '../../../src/result/process.ts';
import { renderForUser } from '../../../src/result/turnMarkdown.ts';
import { MemoryAssets } from './memoryAssets.ts';
import { png } from './samples.ts';

const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more });
const times = <T>(count: number, make: (at: number) => T) =>
  Array.from({ length: count }, (_, at) => make(at));
const PNG_BYTES = png(2, 2, Buffer.alloc(300, 3));
const PNG = PNG_BYTES.toString('base64');
const image = { type: 'image', data: PNG, mimeType: 'image/png' };
const FOR_USER = { annotations: { audience: ['user'] } };

async function write(result: object, maxInlineChars = 10_000) {
  const assets = new MemoryAssets();
  const limits = { maxInlineChars, maxAssetBytes: 1_000_000_000 };
  const { failure, ...processed } = await processMixedToolResult(result, assets, { limits });
  const chat = renderToolResult(processed);
  assert.deepEqual(readToolResult(chat), processed);
  const written = [chat, renderForUser(processed.parts)];
  for (const each of written) assert.ok(each.length <= BUDGET.resultChars, `${each.length} characters`);
  const files = assets.saved.map((_, at) => new TextDecoder().decode(assets.bytes(at)));
  return { chat, files, all: [chat, ...files].join('\n'), failure };
}

describe('the total of one result', () => {
  const floods: Readonly<Record<string, object[]>> = {
    'many texts': times(60, (at) => text(`<${at}>${'x'.repeat(7900)}`)),
    'ten thousand blocks': times(10_000, (at) => text(`This is <${at}>`)),
    'ten thousand problems': times(10_000, (at) => ({ type: `<${at}>` })),
    'ten thousand links': times(10_000, (at) => ({ type: 'resource_link', uri: `x://<${at}>`, name: 'n' })),
    'texts that grow when they are written': times(40, (at) => text(`<${at}>${'\u0001'.repeat(9000)}`)),
    'lines that could begin a turn': times(20, (at) => text(`<${at}>\n${'# %% user\n'.repeat(990)}`)),
    resources: times(50, (at) => ({
      type: 'resource',
      resource: { uri: `x://${at}`, text: `<${at}>${'x'.repeat(7000)}` },
    })),
  };
  for (const [what, content] of Object.entries(floods)) {
    it(`${what} leave at most ${BUDGET.resultChars} characters in the chat, and the rest in order in a file`, async () => {
      const { chat, all } = await write({ content });
      const withoutPreview = all.replace(/(`{3,})text preview\n[\s\S]*?\n\1\n/, '');
      const found = [...withoutPreview.matchAll(/<(\d+)\\?>/g)].map(([, at]) => Number(at));
      assert.deepEqual(
        [...new Set(found)],
        times(content.length, (at) => at),
      );
      assert.match(
        chat,
        /> ⚠ The result is longer than 200000 characters\. This file has the other \d+ of its/,
      );
    });
  }

  it('a result of problems alone is a failure, also if some of them are in a file', async () => {
    const problems = times(10_000, (at) => ({ type: `<${at}>` }));
    assert.match((await write({ content: problems })).failure ?? '', /^Block 1 .*“<0>”/);
    assert.equal((await write({ content: [...problems, text('Done.')] })).failure, undefined);
  });

  it('a text that alone is too long is a file as it is', async () => {
    const long = `# Title\n${'word '.repeat(60_000)}end`;
    const { chat, files } = await write({ content: [text('a'), text(long)] }, 1_000_000);
    assert.deepEqual(files, [long]);
    assert.match(chat, /^a\n\n> ⚠ .*\n\n\[Tool generated file 1\]\(.*\.txt\)\n\n```text preview\n# Title/);
  });

  it('one text of 50 MB is a file, whole', async () => {
    const long = 'all work and no play\n'.repeat(2_500_000);
    const { files } = await write({ content: [text(long)] });
    assert.ok(files[0] === long);
  });

  it('images, links and problems after the cut are still shown', async () => {
    const content = [...times(30, () => text('x'.repeat(9000))), image, { type: 'what' }];
    const { chat, files } = await write({ content });
    assert.match(
      chat,
      /rest-of-result\.md\]\(.*\)\n\n```text preview[\s\S]*!\[Tool generated image 1\][\s\S]*“what”/,
    );
    assert.match(files[1] ?? '', /!\[Tool generated image 1\]\(\.\/tool-image-1\.png\)/);
  });

  it('structured content counts', async () => {
    const content = times(16, () => text('x'.repeat(9500)));
    const structuredContent = { rows: times(9, (at) => `<${at}>${'y'.repeat(1000)}`) };
    assert.ok((await write({ content, structuredContent })).chat.includes('"rows"'));
    const more = [...content, ...times(5, () => text('x'.repeat(9500)))];
    const { chat, files } = await write({ content: more, structuredContent });
    assert.ok(!chat.includes('"rows"') || chat.includes('text preview'));
    assert.match(files.join(''), /<8>y{1000}/);
  });

  it('text for the user only stays hidden from the model', async () => {
    const content = times(40, (at) => text(`${at % 2}`.repeat(9000), at % 2 === 1 ? FOR_USER : {}));
    const { chat, files } = await write({ content });
    const [first = '', second = ''] = files;
    assert.ok(!first.includes('1111') && !second.includes('0000'));
    const preview = readToolResult(chat).parts.find(
      (part) => part.kind === 'asset' && part.preview?.includes('1'),
    );
    assert.equal(preview?.audience, 'user');
  });

  it('what fits is left as it is', () => {
    const part = (length: number): ResultPart => ({ kind: 'text', text: 'x'.repeat(length) });
    assert.equal(limitTotal(times(19, () => part(10_000))), undefined);
    assert.equal(limitTotal(times(9000, () => part(5))), undefined);
    assert.equal(limitTotal(times(21, () => part(10_000)))?.lead.length, 14);
  });
});

describe('the text of one result for the model', () => {
  it('is cut at the same length, and says so', () => {
    const parts = [
      { kind: 'text', text: 'a'.repeat(150_000) },
      { kind: 'file' },
      { kind: 'text', text: 'b'.repeat(150_000) },
      { kind: 'text', text: 'c' },
      { kind: 'file' },
    ];
    const cut = limitText<{ kind: string; text?: string }>(parts);
    assert.deepEqual(
      cut.map(({ kind }) => kind),
      ['text', 'file', 'text', 'file'],
    );
    assert.equal(cut.map((part) => part.text ?? '').join('').length, BUDGET.resultChars);
    assert.match(cut[2]?.text ?? '', /b\n\[Cut: these are the first 200000 of 300001 characters\.\]$/);
    assert.equal(limitText(parts.slice(0, 2)).length, 2);
  });
});

describe('the total of a prompt', () => {
  const files = { holds: async () => false, tail: async () => PNG_BYTES, read: async () => PNG_BYTES };
  const said = (count: number, chars: number) =>
    times(count, (at) => ({
      role: at % 2 === 0 ? ('user' as const) : ('assistant' as const),
      parts: [{ kind: 'text', text: `<${at}>${'x'.repeat(chars)}` } as const],
    }));

  it('is that of one result: the messages from there on are in a file, with their roles and in order', async () => {
    const assets = new MemoryAssets();
    const messages = said(60, 9000);
    const limited = await limitMessages(messages, { assets, files });
    const chat = limited.map(({ parts }) => renderForUser(parts)).join('\n');
    assert.ok(chat.length > 100_000 && chat.length <= BUDGET.resultChars, `${chat.length} characters`);
    const kept = limited.length - 1;
    assert.deepEqual(limited.slice(0, kept), messages.slice(0, kept));
    assert.match(chat, /⚠ The result is longer than 200000 characters/);
    const rest = new TextDecoder().decode(assets.bytes(0));
    const order = [...rest.matchAll(/^(user|assistant):$|<(\d+)>/gm)].map(
      ([, role, at]) => role ?? Number(at),
    );
    assert.deepEqual(
      order,
      messages.slice(kept).flatMap(({ role }, at) => [role, kept + at]),
    );
    assert.equal(limited.at(-1)?.role, messages[kept]?.role);
  });

  it('leaves shorter prompts as they are', async () => {
    const messages = said(20, 9000);
    assert.equal(await limitMessages(messages, { assets: new MemoryAssets(), files }), messages);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { build, MemoryAttachments, type MemoryFile, show, showMessages } from './requests.ts';

const image = (size = 10): MemoryFile => ({ bytes: 'PNG', mimeType: 'image/png', size });
const files = (given: Readonly<Record<string, MemoryFile>>) => ({
  attachments: new MemoryAttachments(given),
});
const user = (text: string) => `# %% user\n${text}\n`;

describe('a file that the user links to', () => {
  it('is sent with the turn: text as text below its path, images as images', async () => {
    const given = files({ 'data/a.csv': { bytes: 'x,y' }, 'b.png': image() });
    assert.equal(
      await show(user('Plot [a](data/a.csv) like ![b](b.png)'), given),
      'user\n  Plot [a](data/a.csv) like ![b](b.png)\n  File data/a.csv:↵x,y\n  <image/png b.png>',
    );
  });

  it('is sent and read once, however often it is linked to', async () => {
    const { attachments } = files({ 'a.txt': { bytes: 'x' } });
    const text = `${user('[a](a.txt) [b](a.txt)')}\n# %% assistant\nA\n\n${user('Again [a](a.txt)')}`;
    assert.equal(
      await show(text, { attachments }),
      'user\n  [a](a.txt) [b](a.txt)\n  File a.txt:↵x\nassistant\n  text: A\nuser\n  Again [a](a.txt)\n  [The file a.txt is attached above.]',
    );
    assert.deepEqual([...attachments.reads], [['a.txt', 1]]);
  });

  it('is read once if it is an image, which is checked before it is sent', async () => {
    const { attachments } = files({ 'b.png': image() });
    const { request } = await build(user('![b](b.png)'), { attachments });
    const [message] = request.messages;
    const part = message?.role === 'user' ? message.parts.at(-1) : undefined;
    assert.ok(part?.kind === 'file');
    await part.read();
    await part.read();
    assert.deepEqual([...attachments.reads], [['b.png', 1]]);
  });

  it('in code or a comment is not sent', async () => {
    const text = user('`[a](a.txt)`\n\n```\n[b](b.txt)\n```\n<!-- [c](c.txt) -->');
    assert.doesNotMatch(await show(text), /File/);
  });

  it('by a tool or an assistant is not sent', async () => {
    const text = `${user('A')}# %% assistant\n[x](a.txt)\n\n# %% tool a.b c1\n[y](a.txt)\n\n${user('B')}`;
    assert.doesNotMatch(await show(text, files({ 'a.txt': { bytes: 'secret' } })), /secret/);
  });

  it('is cut if it is long, with a note for the user and the model', async () => {
    const { request, notes } = await build(
      user('[a](a.txt)'),
      files({ 'a.txt': { bytes: 'x'.repeat(400_001) } }),
    );
    assert.match(JSON.stringify(request), /xx\\n\[Cut: these are the first 400000 of 400001 characters\.\]/);
    assert.match(notes.join(), /Only the first 400000 of 400001 characters of “a\.txt” are sent/);
  });
});

describe('a file that is not sent is one line', () => {
  const bytes = (mimeType: string, size = 1): MemoryFile => ({ bytes: 'x', mimeType, size });
  const cases: readonly (readonly [
    rule: string,
    name: string,
    file: MemoryFile,
    line: string,
    note: string,
  ])[] = [
    [
      'a type that the model does not accept',
      'a b.mp3',
      bytes('audio/mpeg', 2500),
      '[audio a b.mp3, audio/mpeg, 2.5 KB, file:a%20b.mp3]',
      'm does not accept audio/mpeg',
    ],
    [
      'an image that is too large',
      'b.png',
      image(53_000_000),
      '[image b.png, image/png, 53.0 MB, file:b.png]',
      'it has 53.0 MB, and at most 52.4 MB are sent',
    ],
    [
      'a type that no model accepts',
      'c.7z',
      bytes('application/x-7z-compressed'),
      '[file c.7z, application/x-7z-compressed, 1 bytes, file:c.7z]',
      'm does not accept application/x-7z-compressed',
    ],
    [
      'a document that cannot be read',
      'c.zip',
      bytes('application/zip'),
      '[file c.zip, application/zip, 1 bytes, file:c.zip]',
      'its text cannot be read, because it is damaged (invalid zip data)',
    ],
    [
      'an asset of the chat',
      'cmdassets/tool-audio-1.wav',
      bytes('audio/wav'),
      '[audio tool-audio-1.wav, audio/wav, 1 bytes, asset:tool-audio-1.wav]',
      'm does not accept audio/wav',
    ],
  ];
  for (const [rule, name, file, line, reason] of cases) {
    it(rule, async () => {
      const link = `[x](<${name}>)`;
      const { request, notes } = await build(user(link), files({ [name]: file }));
      assert.equal(showMessages(request), `user\n  ${link}\n  ${line}`);
      assert.equal(notes.join(), `Only the name of “${name}” is sent to the model: ${reason}.`);
    });
  }
});

describe('a missing file', () => {
  it('stops the request when the user has just linked to it, and names the line', async () => {
    await assert.rejects(show(`${user('A')}\n# %% assistant\nB\n\n${user('C\n[x](none.csv)')}`), {
      message:
        'Line 9: “none.csv” cannot be sent: there is no such file. Correct the link, or write it as code.',
    });
  });

  it('is a line for the model in earlier turns', async () => {
    const text = `${user('[x](none.csv)')}\n# %% assistant\nB\n\n${user('C')}`;
    assert.match(await show(text), /\[The file none\.csv is not here: there is no such file\.\]/);
  });
});

describe('results of tools', () => {
  const path = (number: number) => `cmdassets/tool-image-20261116-093012-V1StGXR8-${number}.png`;
  const turn = (number: number) =>
    `# %% assistant\n\`\`\`tool_call a.b c${number}\n{}\n\`\`\`\n\n# %% tool a.b c${number}\nImage:\n\n![Tool generated image 1](${path(number)})\n\n`;
  const returned = (count: number) =>
    `${user('A')}\n${Array.from({ length: count }, (_, at) => turn(at + 1)).join('')}${user('B')}`;
  const all = (count: number, size = 10) =>
    files(Object.fromEntries(Array.from({ length: count }, (_, at) => [path(at + 1), image(size)])));
  const sentOf = async (count: number, more = {}) =>
    ((await show(returned(count), { ...all(count), ...more })).match(/<image\/png/g) ?? []).length;

  it('an image is sent as an image in its place', async () => {
    assert.match(
      await show(returned(1), all(1)),
      /result c1 a__b\n {4}Image:\n {4}\[asset:tool-image-\S+-1\.png\]\n {4}<image\/png tool-image-\S+-1\.png>/,
    );
  });

  it('an image is a line if the model does not accept images or the user disables them', async () => {
    const blind = { model: { name: 'm', accepts: () => false } };
    const line = /\[image 1, image\/png, 10 bytes, asset:tool-image-20261116-093012-V1StGXR8-1\.png\]/;
    assert.match(await show(returned(1), { ...all(1), ...blind }), line);
    assert.match(await show(returned(1), { ...all(1), sendImages: 'never' }), line);
    assert.equal(await sentOf(1, { ...blind, sendImages: 'always' }), 1);
  });

  it('a missing image is a line', async () => {
    assert.match(await show(returned(1)), /\[image 1, image\/png, asset:tool-image-\S+\]/);
  });

  it('old images are left out ten at a time, so that consecutive requests begin alike', async () => {
    const sent = await Promise.all([20, 21, 25, 30, 31].map((count) => sentOf(count)));
    assert.deepEqual(sent, [20, 11, 15, 20, 11]);
  });

  it('the newest images stay if all together are too large', async () => {
    assert.equal(await sentOf(8, all(8, 3_500_000)), 5);
  });

  it('only links to the chat’s own assets are followed', async () => {
    const showLink = (target: string, more = {}) =>
      show(returned(1).replace(path(1), target), { ...files({ [target]: image() }), ...more });
    for (const folder of ['../cmdassets', '/x/cmdassets', 'x']) {
      assert.doesNotMatch(await showLink(`${folder}/tool-image-1.png`), /<image/);
    }
    const isOwnAsset = (each: string) => each.startsWith('/storage/cmdassets/');
    assert.match(await showLink('/storage/cmdassets/tool-image-1.png', { isOwnAsset }), /<image/);
  });

  it('a call of the user may return images too', async () => {
    const text = `# %% user\n\`\`\`tool_call a.b c1\n{}\n\`\`\`\n\n# %% tool a.b c1\n![Tool generated image 1](${path(1)})\n\n${user('B')}`;
    assert.equal(
      await show(text, all(1)),
      `user\n  I called the tool a.b with these arguments:↵{}↵It returned:\n  [asset:${path(1).slice(10)}]\n  <image/png ${path(1).slice(10)}>\n  B`,
    );
  });
});

it('a stop ends the reading', async () => {
  const signal = AbortSignal.abort(new Error('Stopped.'));
  await assert.rejects(show(user('[a](a.txt)'), { ...files({ 'a.txt': { bytes: 'x' } }), signal }), {
    message: 'Stopped.',
  });
});

/** Images and documents on their way to a model, through the command line. The built worker is tested on the oldest Node. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { imageSize } from '../../../src/media/measure.ts';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { makeBmp, makeEncryptedPdf, makePdf, makePng, makeZipBomb } from '../../kit/documents.ts';
import { everyDocument } from '../../kit/everyDocument.ts';
import { wav } from '../helpers/madeWire.ts';
import { beginStream, configFor, imagesOf, speak, startRawServer, textsOf } from '../helpers/modelServer.ts';
import { type CliFolder, checkEnd, createCliFolder } from '../helpers/runCli.ts';

interface Sent {
  readonly cli: CliFolder;
  readonly body: unknown;
  /** What the user is told. */
  readonly stderr: string;
  /** The images of the request: type, width and height. */
  readonly images: readonly string[];
  readonly text: string;
}

const KEYS = { FILECHAT_KEY_M: 'key' };
const RUN = ['run', 'a.chat.md', '--model', 'm', '--models', 'models.json'];

/** Runs a chat and returns what reached the provider. */
async function send(
  t: TestContext,
  provider: SdkProvider,
  chat: string,
  files: Readonly<Record<string, Uint8Array>>,
): Promise<Sent> {
  const bodies: unknown[] = [];
  const url = await startRawServer(t, (connection) => {
    bodies.push(JSON.parse(connection.body));
    beginStream(connection);
    connection.response.end(speak(provider, ['Done.']).join(''));
  });
  const cli = await createCliFolder(t, KEYS);
  await mkdir(join(cli.path, 'cmdassets'));
  await cli.write('models.json', JSON.stringify({ models: { m: configFor(provider, url) } }));
  await cli.write('a.chat.md', chat);
  for (const [name, bytes] of Object.entries(files)) await cli.write(name, bytes);
  const { stderr } = checkEnd(await cli.run(...RUN), { code: 0 });
  const [body] = bodies;
  const images = imagesOf(body).map((image) => {
    const [type, data = ''] = image.split(' ');
    const bytes = Buffer.from(data, 'base64');
    const size = imageSize(bytes);
    assert.ok(bytes.length <= 3_750_000);
    return `${type} ${size?.width} × ${size?.height}`;
  });
  return { cli, body, stderr, images, text: textsOf(body).join('\n') };
}

const attached = (...names: readonly string[]) =>
  `# %% user\nLook: ${names.map((name) => `[x](${name})`).join(' ')}\n`;

const SHOT = 'cmdassets/tool-image-20261116-093012-V1StGXR8a0-1.png';
const RESULT = `# %% user
Open the page.

# %% assistant
\`\`\`tool_call browser.shoot c1
{}
\`\`\`

# %% tool browser.shoot c1
![Tool generated image 1](${SHOT})

# %% assistant
`;

describe('images in a request', () => {
  it('a tall screenshot of a tool reaches the model as slices, and its file stays as it was', async (t) => {
    const tall = makePng(1440, 8570);
    const { cli, images, text } = await send(t, 'openai-compatible', RESULT, { [SHOT]: tall });
    assert.equal(images.length, 6);
    for (const image of images) assert.match(image, /^image\/png 1440 × 1[0-5]\d\d$/);
    assert.match(text, /tool-image-\S+ is tall or wide: the next 6 images are its parts, in order/);
    assert.deepEqual(await cli.readBytes(SHOT), Buffer.from(tall));
  });

  it('that are attached are scaled or converted', async (t) => {
    const files = {
      'large.png': makePng(2352, 1764),
      'old.bmp': makeBmp(40, 30),
      'fits.png': makePng(50, 60),
    };
    const { images, stderr } = await send(t, 'anthropic', attached(...Object.keys(files)), files);
    assert.deepEqual(images, ['image/png 1568 × 1176', 'image/png 40 × 30', 'image/png 50 × 60']);
    assert.doesNotMatch(stderr, /Only the name/);
  });

  it('that would take too much memory are described', async (t) => {
    const bomb = Buffer.from(makePng(10, 10));
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    const { images, text } = await send(t, 'openai', RESULT, { [SHOT]: bomb });
    assert.deepEqual(images, []);
    assert.match(text, /not shown: it has 60000 × 60000 pixels, and at most 50 million are decoded\]/);
  });
});

const makeWav = (samples: number) => wav(Buffer.alloc(samples, 3), 24_000);

describe('documents in a request', () => {
  it('are text for a model that does not take them', async (t) => {
    const documents = await everyDocument();
    const files = Object.fromEntries(documents.map(([ending, bytes]) => [`my.${ending}`, bytes]));
    const { text, stderr } = await send(t, 'openai-compatible', attached(...Object.keys(files)), files);
    for (const [ending, , expected] of documents) assert.ok(text.includes(expected), `${ending}: ${text}`);
    assert.doesNotMatch(stderr, /Only the name/);
  });

  it('in PDF go to a model that takes them as they are, unless they have too many pages', async (t) => {
    const short = makePdf('Short');
    const long = makePdf(...Array.from({ length: 300 }, (_, at) => `Page ${at + 1} ${'x'.repeat(300)}`));
    const { body, text } = await send(t, 'anthropic', attached('short.pdf', 'long.pdf'), {
      'short.pdf': short,
      'long.pdf': long,
    });
    assert.ok(JSON.stringify(body).includes(Buffer.from(short).toString('base64')));
    assert.ok(!JSON.stringify(body).includes(Buffer.from(long).toString('base64').slice(0, 400)));
    assert.match(text, /Text of the file long\.pdf:\n## Page 1\n\nPage 1 x/);
  });

  const PDF = 'cmdassets/tool-file-20261116-093012-V1StGXR8a0-1.pdf';
  const returned = RESULT.replace(/!.*/, `[Tool generated file 1: sales.pdf](${PDF})`);
  for (const provider of ['anthropic', 'openai', 'openai-chat', 'google'] as const) {
    it(`that a tool returned reach ${provider} as such, once`, async (t) => {
      const bytes = makePdf('Sales');
      const { body, text } = await send(t, provider, returned, { [PDF]: bytes });
      assert.equal(JSON.stringify(body).split(Buffer.from(bytes).toString('base64')).length, 2);
      assert.match(
        JSON.stringify(body),
        /\[file sales\.pdf, application\/pdf, [^\]]+, asset:tool-file-\S+-1\.pdf\]/,
      );
      assert.doesNotMatch(text, /## Page 1/);
    });
  }

  it('that a tool returned are text by page for a model that does not take them', async (t) => {
    const { text } = await send(t, 'openai-compatible', returned, { [PDF]: makePdf('Sales', 'Costs') });
    assert.match(
      text,
      /\[file sales\.pdf, application\/pdf, [^\]]+\]\s+Its text:\n## Page 1\n\nSales\n\n## Page 2\n\nCosts/,
    );
  });

  it('that a tool returned are left out for a model that refuses them, and are text from then on', async (t) => {
    const bodies: string[] = [];
    const url = await startRawServer(t, (connection) => {
      bodies.push(connection.body);
      const error = { message: "Invalid value: file. Supported values are: 'text' and 'image_url'." };
      if (connection.body.includes('file_data')) {
        connection.response.writeHead(400, { 'content-type': 'application/json' });
        connection.response.end(JSON.stringify({ error }));
        return;
      }
      beginStream(connection);
      connection.response.end(speak('openai-chat', ['Done.']).join(''));
    });
    const cli = await createCliFolder(t, KEYS);
    await mkdir(join(cli.path, 'cmdassets'));
    await cli.write('models.json', JSON.stringify({ models: { m: configFor('openai-chat', url) } }));
    await cli.write(PDF, makePdf('Sales'));
    await cli.write('a.chat.md', returned);
    const { stderr } = checkEnd(await cli.run(...RUN), { code: 0 });
    assert.match(
      stderr,
      /m does not accept PDFs or audio, so it gets a one-line description of each \(“Invalid value/,
    );
    await cli.write('a.chat.md', `${await cli.read('a.chat.md')}And?\n`);
    checkEnd(await cli.run(...RUN), { code: 0 });
    assert.deepEqual(
      bodies.map((body) => body.includes('file_data')),
      [true, false, false],
    );
    assert.match(bodies[1] ?? '', /application\/pdf, [^\]]+; this model does not accept such files\]/);
    assert.match(bodies[2] ?? '', /Its text:\\n## Page 1\\n\\nSales/);
  });

  it('that a tool returned broken are one line, and the request is sent', async (t) => {
    const { body, text } = await send(t, 'anthropic', returned, { [PDF]: makeEncryptedPdf() });
    assert.match(text + JSON.stringify(body), /\[file sales\.pdf, application\/pdf, [^\]]+\]/);
    assert.doesNotMatch(JSON.stringify(body), /"document"/);
  });

  it('that a tool returned as audio reaches a model that hears, and is one line for others', async (t) => {
    const path = PDF.replace('tool-file', 'tool-audio').replace('.pdf', '.wav');
    const chat = returned.replace(/\[Tool.*/, `[Tool generated audio 1](${path})`);
    const bytes = makeWav(400);
    const heard = await send(t, 'openai-chat', chat, { [path]: bytes });
    assert.ok(JSON.stringify(heard.body).includes(bytes.toString('base64')));
    const deaf = await send(t, 'anthropic', chat, { [path]: bytes });
    assert.match(JSON.stringify(deaf.body), /\[audio 1, audio\/wav, 444 bytes, asset:tool-audio-/);
  });

  it('that are broken or hostile are named, and the request is sent', async (t) => {
    const files = {
      'cut.docx': Buffer.from('PK\x03\x04 nothing'),
      'bomb.docx': makeZipBomb(),
      'locked.pdf': makeEncryptedPdf(),
    };
    const { stderr, text } = await send(t, 'openai-compatible', attached(...Object.keys(files)), files);
    assert.match(stderr, /“cut\.docx” is sent to the model: its text cannot be read, because it is damaged/);
    assert.match(
      stderr,
      /“bomb\.docx” .* because it would inflate to 120\.0 MB, and at most 100\.0 MB are read/,
    );
    assert.match(stderr, /“locked\.pdf” .* because it is protected by a password/);
    assert.match(text, /\[file locked\.pdf, application\/pdf, /);
  });

  it('that are locked or cut are not sent as they are, because every later request would fail too', async (t) => {
    const whole = makePdf('Sales');
    const files = { 'locked.pdf': makeEncryptedPdf(), 'cut.pdf': whole.subarray(0, whole.length / 2) };
    const { body, text } = await send(t, 'anthropic', attached(...Object.keys(files)), files);
    assert.doesNotMatch(JSON.stringify(body), /"type":"document"/);
    assert.match(text, /\[file locked\.pdf, application\/pdf, /);
  });
});

it('models read documents of the chat with filechat.read_asset, by pages', async (t) => {
  const name = 'tool-file-20261116-093013-V1StGXR8a1-1.pdf';
  const cli = await createCliFolder(t);
  await mkdir(join(cli.path, 'cmdassets'));
  await cli.write('a.chat.md', `# %% user\n[x](cmdassets/${name})\n`);
  await cli.write(`cmdassets/${name}`, makePdf('One', 'Two', 'Three'));
  const read = async (args: object) => {
    const given = JSON.stringify({ uri: `asset:${name}`, ...args });
    const places = ['--chat', 'a.chat.md', '--servers', 'mcp.json'];
    const { stdout } = await cli.run('call', 'filechat.read_asset', '--args', given, ...places);
    return stdout;
  };
  assert.match(await read({ pages: '2-' }), /3 pages[\s\S]*## Page 2\n\nTwo\n\n## Page 3\n\nThree/);
  await cli.write(`cmdassets/${name}`, Buffer.from('%PDF-1.7 nothing'));
  assert.match(
    await read({}),
    /^> ⚠ The text of \S+ cannot be read: it is damaged \(.*\)\. To read its bytes, use as: "bytes"\.$/m,
  );
});

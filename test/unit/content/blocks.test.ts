import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import fc from 'fast-check';
import {
  base64ToBuffer,
  type ContentInput,
  MAX_SAFE_SIZE,
  MAX_SIZE,
  type ResourceContents,
  toAudioContent,
  toBinaryContent,
  toEmbeddedResource,
  toImageContent,
} from '../../../src/content/index.ts';
import { anySign } from '../../kit/anySign.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { BASE64_FORMS, pngOfSize, SAMPLES } from './samples.ts';

const folder = temporaryFolder({ after });
const base64 = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64');
const isPlain = (data: string) => assert.match(data, /^(?:[\w+/]{4})*(?:[\w+/]{2}==|[\w+/]{3}=)?$/);

/** Every form in which the same bytes can be passed. */
function inputsOf(bytes: Uint8Array): Readonly<Record<string, ContentInput>> {
  const forms = Object.entries(BASE64_FORMS).map(([name, write]) => [name, write(bytes)] as const);
  writeFileSync(join(folder, 'bytes.dat.csv'), bytes);
  const padded = Buffer.concat([Buffer.alloc(3), bytes, Buffer.alloc(3)]);
  return {
    Buffer: Buffer.from(bytes),
    Uint8Array: bytes,
    'a part of a longer one': new Uint8Array(padded.buffer, padded.byteOffset + 3, bytes.length),
    ArrayBuffer: new Uint8Array(bytes).buffer,
    ...Object.fromEntries(forms),
    ...Object.fromEntries(forms.map(([name, data]) => [`a hint, ${name}`, { type: 'binary', data }])),
    'a hint with bytes': { type: 'image', data: bytes },
    'a file': { type: 'file', path: 'bytes.dat.csv' },
    'the path of a file': 'bytes.dat.csv',
  };
}

describe('any bytes in any form', () => {
  it('are unchanged, as plain base64', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 300 }), async (bytes) => {
        for (const [name, input] of Object.entries(inputsOf(bytes))) {
          const options = { basePath: folder };
          const image = await toImageContent(input, options);
          const audio = await toAudioContent(input, options);
          const { resource } = await toBinaryContent(input, options);
          for (const data of [image.data, audio.data, resource.blob]) {
            isPlain(data);
            assert.deepEqual(base64ToBuffer(data), Buffer.from(bytes), name);
          }
        }
      }),
      { numRuns: 30 },
    );
  });

  it('are the same as an embedded resource, as text or blob', async () => {
    const bytesOf = (contents: ResourceContents) =>
      'text' in contents ? Buffer.from(contents.text) : base64ToBuffer(contents.blob);
    const anything = fc.oneof(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.string({ unit: anySign, minLength: 1 }).map((text) => new TextEncoder().encode(`\ufeff${text}`)),
    );
    await fc.assert(
      fc.asyncProperty(
        anything,
        fc.constantFrom('text/plain', 'application/json', 'image/png'),
        async (bytes, type) => {
          const { resource } = await toEmbeddedResource(bytes, { uri: 'a:b', mimeType: type });
          assert.deepEqual(bytesOf(resource), Buffer.from(bytes));
        },
      ),
    );
  });
});

describe('a block', () => {
  it('of an image and of audio has its type', async () => {
    const image = { type: 'image', data: base64(SAMPLES.png()), mimeType: 'image/png' };
    assert.deepEqual(await toImageContent(SAMPLES.png()), image);
    assert.equal((await toAudioContent(SAMPLES.mp3())).mimeType, 'audio/mpeg');
    assert.equal((await toAudioContent(SAMPLES.wav())).mimeType, 'audio/wav');
  });

  it('accepts the type as a string or in the options, and the most specific one wins', async () => {
    const type = async (...given: Parameters<typeof toImageContent>) =>
      (await toImageContent(...given)).mimeType;
    assert.equal(await type(SAMPLES.png(), 'image/apng'), 'image/apng');
    assert.equal(await type(SAMPLES.png(), { mimeType: 'image/apng' }), 'image/apng');
    assert.equal(
      await type({ type: 'image', data: SAMPLES.png(), mimeType: 'image/x-png' }, 'image/apng'),
      'image/x-png',
    );
    assert.equal(await type(`data:image/x-png;base64,${base64(SAMPLES.png())}`), 'image/x-png');
    assert.equal(await type({ type: 'image', data: SAMPLES.png(), mimeType: '' }), 'image/png');
  });

  it('of base64 with nonzero unused bits is encoded again', async () => {
    assert.equal((await toImageContent('AQJ=')).data, 'AQI=');
    assert.equal((await toImageContent('AQI=')).data, 'AQI=');
  });

  it('of bytes is a resource with an address that is the same for the same bytes', async () => {
    const bytes = SAMPLES.pdf();
    const digest = createHash('sha256').update(bytes).digest('hex').slice(0, 16);
    const uri = async (input: ContentInput, options = {}) =>
      (await toBinaryContent(input, options)).resource.uri;
    assert.equal(await uri(bytes), `content://sha256-${digest}/file.pdf`);
    assert.equal(await uri(base64(bytes)), `content://sha256-${digest}/file.pdf`);
    assert.equal(await uri(bytes, { name: 'a b/ü.pdf' }), `content://sha256-${digest}/a%20b%2F%C3%BC.pdf`);
    assert.equal(
      await uri({ type: 'binary', data: bytes, name: 'x.pdf' }),
      `content://sha256-${digest}/x.pdf`,
    );
    assert.equal(await uri(bytes, { uri: 'report://1' }), 'report://1');
  });

  it('of bytes stays bytes, even if they are text', async () => {
    const { resource } = await toBinaryContent(Buffer.from('text'), 'text/plain');
    assert.deepEqual(resource.blob, base64(Buffer.from('text')));
  });

  it('of a file has its name in its address', async () => {
    writeFileSync(join(folder, 'r.pdf'), SAMPLES.pdf());
    const { resource } = await toBinaryContent({ type: 'file', path: 'r.pdf' }, undefined, folder);
    assert.match(resource.uri, /\/r\.pdf$/);
    assert.equal(resource.mimeType, 'application/pdf');
  });

  const image = { type: 'image' };
  for (const input of [null, undefined, 3, {}, image, { type: 'file' }, { ...image, data: 3 }]) {
    it(`of ${JSON.stringify(input)} is an error`, async () => {
      await assert.rejects(toImageContent(input as ContentInput), /^Error: Invalid result/);
    });
  }

  const empty = [Buffer.alloc(0), '', ' \n', 'data:image/png;base64,', { ...image, data: '' }];
  for (const input of empty as readonly ContentInput[]) {
    it(`of nothing in ${JSON.stringify(input)} is an error`, async () => {
      await assert.rejects(toImageContent(input), /^Error: Cannot convert empty buffer/);
    });
  }

  for (const data of ['not-valid-base64!!!', '!', 'data:image/png;base64,!!', 'a.png']) {
    it(`of the data ${data} is an error, and no file is read`, async () => {
      await assert.rejects(
        toImageContent({ type: 'image', data }),
        /^Error: Invalid base64 data: String contains invalid characters\./,
      );
    });
  }
});

describe('an embedded resource', () => {
  const embed = async (input: ContentInput, options = {}) =>
    (await toEmbeddedResource(input, { uri: 'a:b', ...options })).resource;

  it('of a string is its text, whatever its form', async () => {
    for (const text of ['Hello', 'aGVsbG8=', './a.png', ''])
      assert.deepEqual(await embed(text), { uri: 'a:b', mimeType: 'text/plain', text });
  });

  it('has the given type, or the type of its address', async () => {
    assert.equal((await embed('# a', { mimeType: 'text/markdown' })).mimeType, 'text/markdown');
    assert.equal((await embed('# a', { uri: 'doc://a.md' })).mimeType, 'text/markdown');
    assert.equal((await embed('# a', { uri: 'doc://a.png' })).mimeType, 'text/plain');
  });

  it('of a string of another type is base64', async () => {
    const blob = { uri: 'a:b', mimeType: 'image/png', blob: 'AQID' };
    assert.deepEqual(await embed('AQID', { mimeType: 'image/png' }), blob);
    await assert.rejects(embed('Hello!', { mimeType: 'image/png' }), /Invalid base64 data/);
  });

  it('of a data: URL is its content', async () => {
    const plain = { uri: 'a:b', mimeType: 'text/plain' };
    assert.deepEqual(await embed('data:text/plain;base64,aGVsbG8='), { ...plain, text: 'hello' });
    assert.deepEqual(await embed('data:text/plain,a%20b'), { ...plain, text: 'a b' });
  });

  it('of bytes is text if type and bytes agree, otherwise a blob', async () => {
    const json = Buffer.from('{"a":1}');
    assert.deepEqual(await embed(json, { mimeType: 'application/json' }), {
      uri: 'a:b',
      mimeType: 'application/json',
      text: '{"a":1}',
    });
    assert.ok('text' in (await embed(json, { mimeType: 'application/geo+json; charset=utf-8' })));
    assert.ok('blob' in (await embed(Buffer.from([0xff, 0xfe, 0x41]), { mimeType: 'text/plain' })));
    assert.ok('blob' in (await embed(SAMPLES.png())));
    assert.ok('blob' in (await embed(Buffer.from('plain words'))));
  });
});

describe('the limits', () => {
  const warned = async (input: ContentInput, options = {}) => {
    const warnings: string[] = [];
    await toImageContent(input, { onWarning: (message) => warnings.push(message), ...options });
    return warnings;
  };

  it('are those of the seed', () => {
    assert.deepEqual([MAX_SAFE_SIZE, MAX_SIZE], [10 * 1024 * 1024, 50 * 1024 * 1024]);
  });

  it('say nothing up to 10 MiB, and warn above, once', async () => {
    assert.deepEqual(await warned(pngOfSize(MAX_SAFE_SIZE)), []);
    const larger = pngOfSize(MAX_SAFE_SIZE + 1);
    const warning = `Large file detected: ${MAX_SAFE_SIZE + 1} bytes. Consider streaming or chunking.`;
    assert.deepEqual(await warned(larger), [warning]);
    assert.deepEqual(await warned(base64(larger)), [warning]);
    assert.deepEqual(await warned(larger.toString('base64url')), [warning]);
  });

  it('are exact for bytes and for base64 in every form', async () => {
    for (let length = 1; length < 8; length += 1) {
      const bytes = Buffer.alloc(length, 200);
      for (const [name, input] of Object.entries(inputsOf(bytes))) {
        const options = { basePath: folder, maxBytes: length };
        assert.ok(await toImageContent(input, options), name);
        await assert.rejects(
          toImageContent(input, { ...options, maxBytes: length - 1 }),
          new RegExp(`^Error: File too large: ${length} bytes \\(max: ${length - 1}\\)\\. Consider`),
          name,
        );
      }
    }
  });

  it('can be raised', async () => {
    const larger = Buffer.alloc(MAX_SIZE + 1);
    await assert.rejects(toBinaryContent(larger), /File too large/);
    assert.ok(await toBinaryContent(larger, { maxBytes: MAX_SIZE + 1, uri: 'a:b' }));
  });

  it('of types: an unknown type, or one that is not an image, is sent with a warning', async () => {
    assert.deepEqual(await warned(SAMPLES.png(), { mimeType: 'image/xyz-invalid' }), [
      'Unsupported MIME type: image/xyz-invalid. It is sent as it is.',
    ]);
    assert.deepEqual(await warned(SAMPLES.png(), { mimeType: 'image' }), [
      'Invalid MIME type: image. It is sent as it is.',
      'Unsupported MIME type for image content: image. It is sent as it is.',
    ]);
    assert.deepEqual(await warned(SAMPLES.pdf()), [
      'Unsupported MIME type for image content: application/pdf. It is sent as it is.',
    ]);
    assert.deepEqual(await warned(SAMPLES.png(), { mimeType: 'image/png' }), []);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { EventReader } from '../../../../src/model/providers/events.ts';
import {
  fileOfAudio,
  fileOfData,
  fileOnServer,
  openAiFile,
} from '../../../../src/model/providers/madeFiles.ts';
import { outputOptions } from '../../../../src/model/providers/sdkModel.ts';
import { type SdkProvider, wireOf } from '../../../../src/model/providers/wire.ts';
import type { MadeBytes, MadeFile, ModelEvent } from '../../../../src/ports/models.ts';
import { PNG, PNG_BASE64 } from '../../../kit/png.ts';

const MAX_BYTES = 1000;

function show(read: MadeBytes): string {
  if (read.kind !== 'bytes') return read.kind === 'failed' ? read.reason : `refused ${read.size}`;
  const { bytes, declared } = read;
  return `${declared ?? 'no type'} ${Buffer.from(bytes.subarray(0, 4)).toString('latin1')} ${bytes.length}`;
}

describe('the bytes of a file that a model makes', () => {
  const samples = Buffer.alloc(100, 255).toString('base64');
  const cases: readonly (readonly [rule: string, file: MadeFile, read: string])[] = [
    ['are decoded', fileOfData(PNG_BASE64, 'image/png'), `image/png \x89PNG ${PNG.length}`],
    [
      'may be in a data: URL',
      fileOfData(`data:image/png;base64,${PNG_BASE64}`),
      `image/png \x89PNG ${PNG.length}`,
    ],
    ['are not too many', fileOfData('A'.repeat(8000), 'image/png'), 'refused 6000'],
    [
      'are not fetched from other addresses',
      fileOfData('https://e.example/a.png', 'image/png'),
      'the provider sent its address instead of its bytes',
    ],
    ['are base64', fileOfData('%%%', 'image/png'), 'its data is not base64'],
    ['get a header if they are samples', fileOfData(samples, 'audio/L16;rate=16000'), 'audio/wav RIFF 144'],
    ['get a header if they are pieces of samples', fileOfAudio([samples, samples]), 'audio/wav RIFF 244'],
    [
      'keep the header that they have',
      fileOfAudio([Buffer.from('OggS....').toString('base64')]),
      'no type OggS 8',
    ],
    ['are not too many in pieces', fileOfAudio(Array.from({ length: 20 }, () => samples)), 'refused 2040'],
  ];
  for (const [rule, file, read] of cases) {
    it(rule, async () => assert.equal(show(await file.read(MAX_BYTES)), read));
  }
});

const readerOf = (provider: SdkProvider) =>
  new EventReader(
    wireOf({ provider }),
    { host: 'api.example', model: 'm', secrets: [] },
    { openFile: ({ content }) => ({ ...fileOfData(content), block: 'file' }) },
  );

const eventsOf = (provider: SdkProvider, parts: readonly object[]): readonly ModelEvent[] => {
  const reader = readerOf(provider);
  return parts.flatMap((part) => reader.read(part as LanguageModelV4StreamPart));
};

describe('the events of tools that a provider runs', () => {
  it('are no calls, so that an interrupted reply shows none', () => {
    const parts = [
      { type: 'tool-input-start', id: 'k', toolName: 'code_execution', providerExecuted: true },
      { type: 'tool-input-delta', id: 'k', delta: '{"code":' },
      { type: 'tool-call', toolCallId: 'k', toolName: 'code_execution', input: '{}', providerExecuted: true },
    ];
    assert.deepEqual(eventsOf('anthropic', parts), []);
  });

  it('have each file once, however often it is mentioned', () => {
    const content = [{ type: 'code_execution_output', file_id: 'f1' }];
    const result = { type: 'tool-result', toolCallId: 'k', toolName: 'x', result: { content } };
    assert.equal(eventsOf('anthropic', [result, result]).length, 1);
  });

  it('have the versions of an image that come before it', () => {
    const image = { type: 'tool-result', toolCallId: 'k', toolName: 'image_generation' };
    const parts = [
      { ...image, result: { result: 'R0lG' }, preliminary: true },
      { ...image, result: { status: 'running' }, preliminary: true },
      { ...image, result: { result: PNG_BASE64 } },
    ];
    assert.deepEqual(
      eventsOf('openai', parts).map((event) => event.kind === 'file' && event.isPartial === true),
      [true, false],
    );
  });

  it('have the images that code shows, unless they are elsewhere', () => {
    const urls = [`data:image/png;base64,${PNG_BASE64}`, 'https://e.example/a.png'];
    const outputs = urls.map((url) => ({ type: 'image', url }));
    const result = { type: 'tool-result', toolCallId: 'k', toolName: 'x', result: { outputs } };
    assert.equal(eventsOf('openai', [result]).length, 1);
  });
});

it('the audio of a reply is complete when the reply is, even if its stream has no end', () => {
  const reader = readerOf('openai-chat');
  const rawValue = { choices: [{ delta: { audio: { data: PNG_BASE64 } } }] };
  assert.deepEqual(reader.read({ type: 'raw', rawValue }), []);
  assert.deepEqual(
    [...reader.end(), ...reader.end()].map(({ kind }) => kind),
    ['file'],
  );
});

it('the files of a whole reply are those of a stream', () => {
  const images = [{ image_url: { url: `data:image/png;base64,${PNG_BASE64}` } }];
  const message = { content: 'Hi', images, audio: { data: PNG_BASE64, transcript: 'Hi' } };
  const finish = {
    type: 'finish',
    finishReason: { unified: 'stop' },
    usage: { inputTokens: {}, outputTokens: {} },
  };
  const parts = [{ type: 'raw', rawValue: { choices: [{ message }] } }, finish];
  assert.deepEqual(
    eventsOf('openai-compatible', parts).map((event) =>
      event.kind === 'file' ? event.file.block : event.kind,
    ),
    ['image', 'audio', 'finish'],
  );
});

it('a file on the server whose length is over the limit is not fetched', async () => {
  let cancelled = false;
  const body = new ReadableStream({
    cancel: () => {
      cancelled = true;
    },
  });
  const file = fileOnServer(
    {
      config: { name: 'm', provider: 'openai', model: 'm', baseUrl: 'http://127.0.0.1:1' },
      fetch: async () => new Response(body, { headers: { 'content-length': '3000' } }),
    },
    openAiFile('c', 'f', 'huge.bin'),
  );
  assert.equal(show(await file.read(MAX_BYTES)), 'refused 3000');
  assert.ok(cancelled);
});

describe('a model whose name says that it makes files', () => {
  const cases: readonly (readonly [provider: SdkProvider, model: string, options: object])[] = [
    ['google', 'gemini-2.5-flash-image', { responseModalities: ['TEXT', 'IMAGE'] }],
    ['google', 'gemini-2.5-flash-preview-tts', { responseModalities: ['AUDIO'] }],
    ['google', 'gemini-2.5-flash', {}],
    ['openai-compatible', 'google/gemini-2.5-flash-image', { modalities: ['image', 'text'] }],
    ['openai-compatible', 'qwen3', {}],
    [
      'openai-chat',
      'gpt-audio-mini',
      { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } },
    ],
    ['openai-chat', 'gpt-4o', {}],
  ];
  for (const [provider, model, options] of cases) {
    it(`${provider} ${model} is asked for ${JSON.stringify(options)}`, () => {
      assert.deepEqual(outputOptions({ provider, model }), options);
    });
  }
});

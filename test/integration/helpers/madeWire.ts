import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { PNG, PNG_BASE64 } from '../../kit/png.ts';
import { listAssets } from './checkBlocks.ts';
import { type Connection, KEY, startRawServer, toEvent } from './modelServer.ts';
import { createCliFolder } from './runCli.ts';

export const GIF = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
/** The same with another color. */
export const OTHER_GIF = Buffer.concat([GIF.subarray(0, 13), Buffer.from([9, 9, 9]), GIF.subarray(16)]);
const GIF_BASE64 = GIF.toString('base64');
export const CSV = Buffer.from('quarter,sales\n1,3\n2,5\n');
export const SAMPLES = Buffer.from(Array.from({ length: 200 }, (_, at) => (at * 37) % 256));

export interface Wire {
  readonly provider: SdkProvider;
  readonly model: string;
  /** The events of a reply, except those that begin and end it. */
  readonly events: readonly object[];
}

/** The events that end a reply. */
const ENDS: Readonly<Record<SdkProvider, readonly object[]>> = {
  google: [{ candidates: [{ content: { role: 'model', parts: [] }, finishReason: 'STOP' }] }],
  anthropic: [
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
    { type: 'message_stop' },
  ],
  openai: [{ type: 'response.completed', response: { usage: { input_tokens: 1, output_tokens: 1 } } }],
  'openai-chat': [chunk({}, 'stop')],
  'openai-compatible': [chunk({}, 'stop')],
};

const BEGINNINGS: Partial<Record<SdkProvider, readonly object[]>> = {
  anthropic: [
    {
      type: 'message_start',
      message: {
        id: 'msg_1',
        type: 'message',
        role: 'assistant',
        model: 'claude',
        content: [],
        stop_reason: null,
        stop_sequence: null,
        usage: { input_tokens: 1, output_tokens: 1 },
      },
    },
  ],
  openai: [{ type: 'response.created', response: { id: 'r', created_at: 1, model: 'gpt' } }],
};

function chunk(delta: object, finish: string | null = null): object {
  const choices = [{ index: 0, delta, finish_reason: finish }];
  return { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices };
}

const gemini = (...parts: readonly object[]): object => ({
  candidates: [{ content: { role: 'model', parts } }],
});
const inline = (data: string, mimeType = 'image/png', more: object = {}): object => ({
  inlineData: { mimeType, data },
  ...more,
});

function openAiText(index: number, text: string): readonly object[] {
  const item = { type: 'message', id: `msg_${index}` };
  return [
    { type: 'response.output_item.added', output_index: index, item },
    {
      type: 'response.output_text.delta',
      item_id: item.id,
      output_index: index,
      content_index: 0,
      delta: text,
    },
  ];
}

const openAiEnd = (index: number): object => ({
  type: 'response.output_item.done',
  output_index: index,
  item: { type: 'message', id: `msg_${index}` },
});

function anthropicText(index: number, text: string): readonly object[] {
  return [
    { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index },
  ];
}

/** A call that the provider runs. */
function fold(summary: string, name: string, text: string): string {
  return `<details><summary>${summary}</summary>\n\n\`\`\`\`provider_tool ${name}\n${text}\n\`\`\`\`\n\n</details>`;
}

const IMAGE_CALL = { type: 'image_generation_call', id: 'ig_1' };
const CITED = {
  type: 'container_file_citation',
  container_id: 'cntr_1',
  file_id: 'cfile_1',
  filename: '../sales.csv',
  start_index: 0,
  end_index: 4,
};

/** How each provider sends a file, what the reply becomes, and the bytes of its files in order. */
export const CASES: Readonly<Record<string, Wire & { reply: string; files: readonly Buffer[] }>> = {
  'Gemini, several images between texts': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    events: [
      gemini({ text: 'A red one:' }),
      gemini(inline(PNG_BASE64), { text: 'and ' }),
      gemini({ text: 'a blue one:' }, inline(GIF_BASE64, 'image/png')),
    ],
    reply: 'A red one:\n\nimage 1 .png\n\nand a blue one:\n\nimage 2 .gif',
    files: [PNG, GIF],
  },
  'Gemini, an image alone': {
    provider: 'google',
    model: 'gemini-2.5-flash-image',
    events: [gemini(inline(PNG_BASE64))],
    reply: 'image 1 .png',
    files: [PNG],
  },
  'Gemini, a draft in its thoughts': {
    provider: 'google',
    model: 'gemini-3-pro-image-preview',
    events: [
      gemini({ text: 'Red, then.', thought: true }),
      gemini(inline(GIF_BASE64, 'image/gif', { thought: true })),
      gemini(inline(PNG_BASE64, 'image/png', { thoughtSignature: 'c2lnbmVk' })),
    ],
    reply:
      '<details><summary>Reasoning</summary>\n\n````reasoning\nRed, then.\n````\n\nimage 1 .gif\n\n</details>\n\nimage 2 .png\n<!-- filechat:metadata {"google":{"thoughtSignature":"c2lnbmVk"}} -->',
    files: [GIF, PNG],
  },
  'Gemini, speech without a header': {
    provider: 'google',
    model: 'gemini-2.5-flash-preview-tts',
    events: [gemini(inline(SAMPLES.toString('base64'), 'audio/L16;codec=pcm;rate=16000'))],
    reply: 'audio 1 .wav',
    files: [wav(SAMPLES, 16_000)],
  },
  'OpenAI, an image after partial ones': {
    provider: 'openai',
    model: 'gpt-5',
    events: [
      ...openAiText(0, 'I draw.'),
      openAiEnd(0),
      { type: 'response.output_item.added', output_index: 1, item: IMAGE_CALL },
      ...[GIF_BASE64, OTHER_GIF.toString('base64')].map((image, at) => ({
        type: 'response.image_generation_call.partial_image',
        item_id: 'ig_1',
        output_index: 1,
        partial_image_index: at,
        partial_image_b64: image,
      })),
      {
        type: 'response.output_item.done',
        output_index: 1,
        item: { ...IMAGE_CALL, status: 'completed', result: PNG_BASE64, revised_prompt: 'A <b>red</b>\ndot' },
      },
      ...openAiText(2, 'Done.'),
      openAiEnd(2),
    ],
    reply: `I draw.\n\n${fold('Image generation: A b red /b ; dot', 'image_generation', 'A <b>red</b>\ndot')}\n\nimage 1 .png\n\nDone.`,
    files: [PNG],
  },
  'OpenAI, a file that code wrote, cited twice': {
    provider: 'openai',
    model: 'gpt-5',
    events: [
      ...openAiText(0, 'See '),
      ...[0, 1].map((at) => ({
        type: 'response.output_text.annotation.added',
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
        annotation_index: at,
        annotation: CITED,
      })),
      {
        type: 'response.output_text.delta',
        item_id: 'msg_0',
        output_index: 0,
        content_index: 0,
        delta: 'the file.',
      },
      openAiEnd(0),
    ],
    reply: 'See the file.\n\nfile 1: sales.csv .csv',
    files: [CSV],
  },
  'OpenAI, audio in pieces with its words': {
    provider: 'openai-chat',
    model: 'gpt-audio',
    events: [
      chunk({ role: 'assistant', audio: { id: 'audio_1', transcript: 'Good ' } }),
      chunk({ audio: { data: SAMPLES.subarray(0, 100).toString('base64') } }),
      chunk({ audio: { transcript: 'morning.' } }),
      chunk({ audio: { data: SAMPLES.subarray(100).toString('base64') } }),
      chunk({ audio: { expires_at: 1 } }),
    ],
    reply: 'Good morning.\n\naudio 1 .wav',
    files: [wav(SAMPLES, 24_000)],
  },
  'OpenRouter, images': {
    provider: 'openai-compatible',
    model: 'google/gemini-2.5-flash-image',
    events: [
      chunk({ role: 'assistant', content: 'Two: ' }),
      chunk({
        content: 'here.',
        images: [PNG_BASE64, GIF_BASE64].map((data) => ({
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${data}` },
        })),
      }),
    ],
    reply: 'Two: here.\n\nimage 1 .png\n\nimage 2 .gif',
    files: [PNG, GIF],
  },
  'Anthropic, a file that code wrote': {
    provider: 'anthropic',
    model: 'claude-sonnet-4-5',
    events: [
      ...anthropicText(0, 'I compute.'),
      {
        type: 'content_block_start',
        index: 1,
        content_block: { type: 'server_tool_use', id: 'srvtoolu_1', name: 'bash_code_execution', input: {} },
      },
      {
        type: 'content_block_delta',
        index: 1,
        delta: { type: 'input_json_delta', partial_json: '{"command":"python a.py"}' },
      },
      { type: 'content_block_stop', index: 1 },
      {
        type: 'content_block_start',
        index: 2,
        content_block: {
          type: 'bash_code_execution_tool_result',
          tool_use_id: 'srvtoolu_1',
          content: {
            type: 'bash_code_execution_result',
            stdout: '',
            stderr: '',
            return_code: 0,
            content: [{ type: 'bash_code_execution_output', file_id: 'file_1' }],
          },
        },
      },
      { type: 'content_block_stop', index: 2 },
      ...anthropicText(3, 'There.'),
    ],
    reply: `I compute.\n\n${fold('Code execution: python a.py', 'code_execution', 'python a.py')}\n\nfile 1: sales.csv .csv\n\nThere.`,
    files: [CSV],
  },
};

export function wav(samples: Buffer, rate: number): Buffer {
  const number = (value: number, bytes: number) => {
    const buffer = Buffer.alloc(bytes);
    buffer.writeUIntLE(value, 0, bytes);
    return buffer;
  };
  const format = [
    number(1, 2),
    number(1, 2),
    number(rate, 4),
    number(rate * 2, 4),
    number(2, 2),
    number(16, 2),
  ];
  const head = [Buffer.from('RIFF'), number(36 + samples.length, 4), Buffer.from('WAVEfmt '), number(16, 4)];
  return Buffer.concat([...head, ...format, Buffer.from('data'), number(samples.length, 4), samples]);
}

/** A reply on the wire; `upTo` is where it is cut. */
export function reply({ provider, events }: Wire, upTo = Number.POSITIVE_INFINITY): string {
  const all = [...(BEGINNINGS[provider] ?? []), ...events, ...ENDS[provider]];
  return all.slice(0, upTo).map(toEvent).join('');
}

interface Request {
  readonly path: string;
  readonly body: string;
}

/** A chat whose model is on a server that gives these replies, one for each request, and has the files of code. */
export async function createChat(
  t: TestContext,
  wire: Wire,
  replies: readonly ((connection: Connection) => void)[],
  chat = '# %% user\nDraw.\n',
) {
  const cli = await createCliFolder(t, { FILECHAT_KEY_IT: KEY });
  const requests: Request[] = [];
  let asked = 0;
  const url = await startRawServer(t, (connection) => {
    const { request, response, body } = connection;
    const path = request.url ?? '';
    requests.push({ path, body });
    const key =
      request.headers['x-api-key'] ?? request.headers.authorization ?? request.headers['x-goog-api-key'];
    if (!String(key).includes(KEY)) response.writeHead(401).end();
    else if (path === '/v1/files/file_1') response.end('{"filename":"sales.csv","mime_type":"text/csv"}');
    else if (/^\/v1\/(?:files\/file_1|containers\/cntr_1\/files\/cfile_1)\/content$/.test(path))
      response.end(CSV);
    else if (path === '/v1/files/file_endless/content') sendEndlessly(response);
    else if (request.method !== 'POST') response.writeHead(404).end();
    else replies[asked++]?.(connection);
  });
  const baseUrl = `${url}/v1`;
  const { provider, model } = wire;
  await cli.write('models.json', JSON.stringify({ models: { it: { provider, model, baseUrl } } }));
  await cli.write('a.chat.md', chat);
  const run = (...more: string[]) => cli.run('run', 'a.chat.md', '--models', 'models.json', ...more);
  const read = async () => {
    const text = await cli.read('a.chat.md');
    const links = [...text.matchAll(LINK)];
    const paths = links.map(([, , , path = '']) => path);
    return {
      text,
      paths,
      shown: text.replace(LINK, (_, bang: string, label: string, path: string) => {
        assert.equal(bang === '!', label.startsWith('image'), 'only an image is shown as one');
        return `${label} ${path.slice(path.lastIndexOf('.'))}`;
      }),
      files: await Promise.all(paths.map((path) => readFile(join(cli.path, path)))),
      assets: await listAssets(cli.path),
    };
  };
  return { cli, run, read, requests };
}

const LINK =
  /(!?)\[Model generated ([^\]]+)\]\((cmdassets\/model-(?:image|audio|file)-\d{8}-\d{6}-[A-Za-z0-9]{8,}-\d+\.[a-z0-9]+)\)/g;

export const speak =
  (text: string) =>
  ({ response }: Connection): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(text);
  };

/** Sends this much, then closes the connection. */
export const breakOff =
  (text: string) =>
  ({ response }: Connection): void => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => response.destroy());
  };

/** Sends bytes until the client has enough. */
function sendEndlessly(response: ServerResponse): void {
  const piece = Buffer.alloc(20_000, 1);
  const more = () => {
    if (!response.destroyed) response.write(piece, more);
  };
  more();
}

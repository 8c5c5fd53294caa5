import { decodeBase64, readDataUrl } from '../../base/base64.ts';
import { messageOf } from '../../base/errors.ts';
import { field, fieldsOf, listOf, textOf } from '../../base/json.ts';
import type { MadeBytes, MadeFile, ModelEvent } from '../../ports/models.ts';
import type { AssetKind } from '../../ports/results.ts';
import { readBase64 } from '../../result/saveBytes.ts';
import type { ModelConfig } from '../config/modelConfig.ts';
import { headersFor, hostOf } from './endpoint.ts';
import { isFetchFailure } from './modelError.ts';
import { baseUrlOf } from './wire.ts';

/** A file whose bytes are in the stream: base64, or a data: URL. */
export function fileOfData(data: string, declared = readDataUrl(data).mimeType ?? ''): MadeFile {
  const rate = sampleRateOf(declared);
  return {
    block: blockOf(declared),
    read: async (maxBytes) => {
      if (/^https?:/i.test(data)) return failed('the provider sent its address instead of its bytes');
      const read = readBase64(data, maxBytes);
      if (read.kind !== 'bytes') return read;
      return rate === undefined ? { ...read, declared } : wavOf([read.bytes], rate);
    },
  };
}

/** A file whose bytes are in memory. */
export function fileOfBytes(bytes: Uint8Array, declared: string): MadeFile {
  return {
    block: blockOf(declared),
    read: async (maxBytes) =>
      bytes.length > maxBytes ? { kind: 'refused', size: bytes.length } : { kind: 'bytes', bytes, declared },
  };
}

function blockOf(declared: string): AssetKind {
  const [group] = declared.toLowerCase().split('/');
  return group === 'image' || group === 'audio' ? group : 'file';
}

/** Of samples without a header, as Gemini sends them: `audio/L16;codec=pcm;rate=24000`. */
function sampleRateOf(declared: string): number | undefined {
  if (!/^audio\/(?:l16|pcm)\b/i.test(declared)) return undefined;
  return Number(/;\s*rate=(\d{4,6})\b/i.exec(declared)?.[1] ?? DEFAULT_SAMPLE_RATE);
}

const DEFAULT_SAMPLE_RATE = 24_000;
/** Everything else that arrives in pieces is 16-bit PCM, the only format that OpenAI streams. */
const WITH_HEADER = /^(?:RIFF|OggS|fLaC|ID3)/;

/** Audio that arrives in pieces, each of which is base64 of its own. */
export function fileOfAudio(pieces: readonly string[]): MadeFile {
  return {
    block: 'audio',
    read: async (maxBytes) => {
      const size = pieces.reduce((sum, piece) => sum + Math.floor((piece.length * 3) / 4), 0);
      if (size > maxBytes) return { kind: 'refused', size };
      const samples: Uint8Array[] = [];
      for (const piece of pieces) {
        const decoded = decodeBase64(piece);
        if (!decoded.ok) return failed(decoded.reason);
        samples.push(decoded.bytes);
      }
      const head = Buffer.from(samples[0]?.subarray(0, 4) ?? []).toString('latin1');
      if (!WITH_HEADER.test(head)) return wavOf(samples, DEFAULT_SAMPLE_RATE);
      return { kind: 'bytes', bytes: Buffer.concat(samples) };
    },
  };
}

const HEADER_BYTES = 44;

/** Puts a header before mono 16-bit samples, without which no player can play them. */
function wavOf(samples: readonly Uint8Array[], rate: number): MadeBytes {
  const size = samples.reduce((sum, each) => sum + each.length, 0);
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('RIFF', 0);
  header.writeUInt32LE(HEADER_BYTES - 8 + size, 4);
  header.write('WAVEfmt ', 8);
  header.writeUInt32LE(16, 16);
  header.writeUInt16LE(1, 20);
  header.writeUInt16LE(1, 22);
  header.writeUInt32LE(rate, 24);
  header.writeUInt32LE(2 * rate, 28);
  header.writeUInt16LE(2, 32);
  header.writeUInt16LE(16, 34);
  header.write('data', 36);
  header.writeUInt32LE(size, 40);
  return { kind: 'bytes', bytes: Buffer.concat([header, ...samples]), declared: 'audio/wav' };
}

function failed(reason: string, name?: string): MadeBytes {
  return { kind: 'failed', size: 0, reason, ...(name !== undefined && { name }) };
}

/** A file on the provider's server. */
export interface StoredFile {
  readonly id: string;
  /** The path of its bytes, below the model's own address. */
  readonly content: string;
  readonly name?: string | undefined;
  /** The path of JSON with its name and type, if the stream does not say them. */
  readonly about?: string | undefined;
}

/** A file that code of the model wrote: `file_id` in the result of Anthropic's tool. */
export function anthropicFile(id: string): StoredFile {
  const about = `/files/${encodeURIComponent(id)}`;
  return { id, content: `${about}/content`, about };
}

export function openAiFile(container: string, id: string, name: string | undefined): StoredFile {
  const folder = `/containers/${encodeURIComponent(container)}/files`;
  return { id, content: `${folder}/${encodeURIComponent(id)}/content`, name };
}

interface FileServer {
  readonly config: ModelConfig;
  readonly key?: string | undefined;
  readonly fetch: typeof globalThis.fetch;
}

const MAX_FETCH_MS = 5 * 60_000;
const MAX_ABOUT_BYTES = 100_000;

/** Fetches a file with the model's key, from the model's own address only. */
export function fileOnServer(server: FileServer, stored: StoredFile): MadeFile {
  return {
    block: 'file',
    read: async (maxBytes, signal) => {
      const timeout = AbortSignal.timeout(MAX_FETCH_MS);
      const inTime = signal ? AbortSignal.any([signal, timeout]) : timeout;
      let about: About = {};
      try {
        about = await readAbout(server, stored, inTime);
        const { body, type, length } = await fetchFile(server, stored.content, inTime);
        const bytes = length > maxBytes ? length : await readAtMost(body, maxBytes);
        if (length > maxBytes) await body.cancel();
        return typeof bytes === 'number'
          ? { kind: 'refused', size: Math.max(bytes, length), ...nameOnly(about) }
          : { kind: 'bytes', bytes, declared: type, ...about };
      } catch (error) {
        signal?.throwIfAborted();
        return failed(reasonOf(error, server.config), about.name);
      }
    },
  };
}

function reasonOf(error: unknown, config: ModelConfig): string {
  return isFetchFailure(error)
    ? `the connection to ${hostOf(config)} was lost`
    : messageOf(error).replace(/\.$/, '');
}

interface About {
  readonly name?: string;
  readonly declared?: string;
}

function nameOnly({ name }: About): Pick<About, 'name'> {
  return name === undefined ? {} : { name };
}

/** The file is saved even if nothing is known about it. */
async function readAbout(
  server: FileServer,
  { about, name }: StoredFile,
  signal: AbortSignal,
): Promise<About> {
  if (name !== undefined) return { name };
  if (about === undefined) return {};
  try {
    const { body } = await fetchFile(server, about, signal);
    const bytes = await readAtMost(body, MAX_ABOUT_BYTES);
    const said: unknown = typeof bytes === 'number' ? undefined : JSON.parse(new TextDecoder().decode(bytes));
    const { filename, mime_type: type } = fieldsOf(said);
    return {
      ...(typeof filename === 'string' && { name: filename }),
      ...(typeof type === 'string' && { declared: type }),
    };
  } catch {
    signal.throwIfAborted();
    return {};
  }
}

async function fetchFile({ config, key, fetch }: FileServer, path: string, signal: AbortSignal) {
  const beta = config.provider === 'anthropic' ? { 'anthropic-beta': 'files-api-2025-04-14' } : {};
  // A redirect would send the key to another host.
  const response = await fetch(`${baseUrlOf(config)}${path}`, {
    headers: { ...headersFor(config, key), ...beta },
    signal,
    redirect: 'manual',
  });
  if (response.ok && response.body) {
    const { headers } = response;
    const length = Number(headers.get('content-length') ?? 0);
    return { body: response.body, type: headers.get('content-type') ?? '', length };
  }
  await response.body?.cancel();
  throw new Error(`${hostOf(config)} responded with ${response.status}`);
}

/** Resolves to the size so far if there are more bytes. */
async function readAtMost(body: ReadableStream<Uint8Array>, maxBytes: number): Promise<Uint8Array | number> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    if (size > maxBytes) return size;
    pieces.push(piece);
  }
  return Buffer.concat(pieces);
}

/**
 * Finds the images and the audio in the chunks of chat models, which the SDK drops: `delta.images` of OpenRouter, and
 * `delta.audio` of OpenAI.
 */
export class ChatFiles {
  /** Of the chunk that was read last: the text of the same chunk comes before them. */
  #images: ModelEvent[] = [];
  readonly #audio: string[] = [];

  /** The events of a chunk: the words of its audio, after the images of the chunk before it. */
  read(chunk: unknown): readonly ModelEvent[] {
    const events = this.#takeImages();
    const [choice] = listOf(field(chunk, 'choices'));
    // The SDK reads the words of a whole message.
    const streamed = field(choice, 'delta');
    const delta = streamed ?? field(choice, 'message');
    for (const image of listOf(field(delta, 'images'))) {
      const url = textOf(field(field(image, 'image_url'), 'url'));
      if (url !== '') this.#images.push({ kind: 'file', file: { ...fileOfData(url), block: 'image' } });
    }
    const audio = field(delta, 'audio');
    const data = textOf(field(audio, 'data'));
    const transcript = streamed == null ? '' : textOf(field(audio, 'transcript'));
    if (data !== '') this.#audio.push(data);
    return transcript === '' ? events : [...events, { kind: 'text', text: transcript }];
  }

  /** The files that are complete now that the reply is. */
  end(): readonly ModelEvent[] {
    const audio = this.#audio.splice(0);
    const sound: readonly ModelEvent[] = audio.length > 0 ? [{ kind: 'file', file: fileOfAudio(audio) }] : [];
    return [...this.#takeImages(), ...sound];
  }

  #takeImages(): readonly ModelEvent[] {
    return this.#images.splice(0);
  }
}

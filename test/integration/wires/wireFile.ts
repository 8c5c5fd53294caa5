/** Responses of model servers as text files, described in test/wires/README.md. */
import { globSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { root } from '../../runner/layers.ts';
import { HI } from '../../unit/loop/scriptedChat.ts';

export interface WireFile {
  readonly name: string;
  readonly provider: SdkProvider;
  /** A row of `ENDINGS`, or `complete`. */
  readonly ending: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The bytes of the response, in the given pieces. */
  readonly pieces: readonly Buffer[];
  /** Whether the connection breaks after the bytes. */
  readonly resets: boolean;
  readonly usage: unknown;
  readonly chat: string;
  readonly error: string | undefined;
}

const BORDER = '¦';
const LINE_ENDS: Readonly<Record<string, string>> = { crlf: '\r\n', cr: '\r', none: '' };

export function readWireFiles(): readonly WireFile[] {
  const files = globSync('test/wires/*/*.txt', { cwd: root }).sort();
  return files.map((file) => readWireFile(file, readFileSync(join(root, file), 'utf8')));
}

function readWireFile(file: string, text: string): WireFile {
  const [head = '', ...sections] = text.split(/^=== (?=response$|chat$|error$)/m);
  const section = (name: string) =>
    sections.find((each) => each.startsWith(`${name}\n`))?.slice(name.length + 1);
  const fields = new Map(head.split('\n').flatMap(readField));
  const encoding = fields.get('content-encoding');
  const type = { 'content-type': fields.get('content-type') ?? 'text/event-stream' };
  const chat = section('chat');
  return {
    name: `${basename(dirname(file))}/${basename(file, '.txt')}`,
    provider: fields.get('provider') as SdkProvider,
    ending: fields.get('ending') ?? 'complete',
    status: Number(fields.get('status') ?? 200),
    headers: encoding === undefined ? type : { ...type, 'content-encoding': encoding },
    pieces: readPieces(section('response') ?? '', fields),
    resets: fields.get('connection') === 'reset',
    usage: fields.has('usage') ? JSON.parse(fields.get('usage') ?? '') : undefined,
    chat: chat === undefined ? HI : `${HI}\n${chat}`,
    error: section('error')?.trimEnd(),
  };
}

function readField(line: string): readonly [string, string][] {
  const at = line.indexOf(': ');
  return at < 0 || line.startsWith('#') ? [] : [[line.slice(0, at), line.slice(at + 2)]];
}

function readPieces(response: string, fields: ReadonlyMap<string, string>): readonly Buffer[] {
  const lineEnd = LINE_ENDS[fields.get('line-ends') ?? ''];
  const text = lineEnd === undefined ? response : response.replaceAll('\n', lineEnd);
  const bytes = `${fields.get('byte-order-mark') === 'yes' ? '\uFEFF' : ''}${text}`;
  const kept = fields.has('bytes') ? Number(fields.get('bytes')) : undefined;
  if (fields.get('content-encoding') === 'gzip')
    return [gzipSync(bytes.replaceAll(BORDER, '')).subarray(0, kept)];
  return bytes.split(BORDER).map((piece) => Buffer.from(piece).subarray(0, kept));
}

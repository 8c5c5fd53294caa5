import { visibleLine } from '../../../base/lines.ts';
import { describeSize } from '../../../base/size.ts';
import type { DocumentJob, DocumentText } from '../job.ts';
import { toMarkdown } from './html.ts';

const SHOWN_HEADERS = ['From', 'To', 'Cc', 'Date', 'Subject'];
const MAX_DEPTH = 10;
const MAX_PARTS = 500;

/** An e-mail: its headers, its text, and the names of its attachments. */
export function readMail({ bytes }: DocumentJob): DocumentText {
  // One character per byte, until the charset of a part is known.
  const message = parseEntity(Buffer.from(bytes).toString('latin1'));
  const leaves = leavesOf(message, 0).slice(0, MAX_PARTS);
  const texts = leaves.filter(isBody);
  const files = leaves.filter((leaf) => !texts.includes(leaf));
  const headers = SHOWN_HEADERS.flatMap((name) => {
    const value = message.headers.get(name.toLowerCase());
    return value === undefined ? [] : [`${name}: ${decodeWords(value)}`];
  });
  const attachments = files.map((file) => `- ${describe(file)}`);
  const text = [
    headers.join('\n'),
    ...texts.map(bodyText),
    ...(attachments.length === 0 ? [] : [`Attachments:\n${attachments.join('\n')}`]),
  ];
  return { sections: [{ text: text.filter((each) => each.trim() !== '').join('\n\n') }] };
}

interface Entity {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
  readonly type: string;
  readonly isAttachment: boolean;
}

function parseEntity(source: string): Entity {
  // There may be no headers.
  const end = /^\r?\n|\r?\n\r?\n/.exec(source);
  const head = end ? source.slice(0, end.index) : source;
  const headers = new Map<string, string>();
  for (const line of head.replace(/\r?\n[ \t]+/g, ' ').split(/\r?\n/)) {
    const colon = line.indexOf(':');
    const name = line.slice(0, colon).trim().toLowerCase();
    if (colon > 0 && !headers.has(name)) headers.set(name, line.slice(colon + 1).trim());
  }
  const type = (headers.get('content-type') ?? 'text/plain').split(';')[0]?.trim().toLowerCase() ?? '';
  const isAttachment = /^attachment\b/i.test(headers.get('content-disposition') ?? '');
  return { headers, body: end ? source.slice(end.index + end[0].length) : '', type, isAttachment };
}

/**
 * Of alternatives, the first with text is the plainest. The files of the others count too: Apple Mail puts attachments
 * beside the HTML.
 */
function leavesOf(entity: Entity, depth: number): readonly Entity[] {
  const boundary = parameter(entity.headers.get('content-type'), 'boundary');
  if (!entity.type.startsWith('multipart/') || boundary === undefined || depth >= MAX_DEPTH) return [entity];
  const parts = entity.body
    .split(new RegExp(`(?:^|\\r?\\n)--${boundary.replace(/\W/g, '\\$&')}(?=(?:--)?[ \\t]*(?:\\r?\\n|$))`))
    .slice(1, MAX_PARTS)
    .filter((part) => !part.startsWith('--'))
    .map((part) => parseEntity(part.replace(/^[ \t]*\r?\n/, '').replace(/\r?\n$/, '')));
  const leaves = parts.map((part) => leavesOf(part, depth + 1));
  if (entity.type !== 'multipart/alternative') return leaves.flat();
  const hasText = (each: Entity) => isBody(each) && bodyText(each) !== '';
  const chosen = leaves.find((each) => each.some(hasText));
  return leaves.flatMap((each) => (each === chosen ? each : each.filter((leaf) => !isBody(leaf))));
}

function isBody({ isAttachment, type }: Entity): boolean {
  return !isAttachment && type.startsWith('text/');
}

function bodyText(entity: Entity): string {
  const charset = parameter(entity.headers.get('content-type'), 'charset');
  const text = decodeBytes(decodeBody(entity), charset).replaceAll('\r\n', '\n').trim();
  return entity.type === 'text/html' ? toMarkdown(text) : text;
}

function decodeBody({ headers, body }: Entity): Uint8Array {
  switch (headers.get('content-transfer-encoding')?.trim().toLowerCase()) {
    case 'base64':
      return Buffer.from(body, 'base64');
    case 'quoted-printable':
      return Buffer.from(unquote(body.replace(/=[ \t]*\r?\n/g, '')), 'latin1');
    default:
      return Buffer.from(body, 'latin1');
  }
}

function unquote(text: string): string {
  return text.replace(/=([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function decodeBytes(bytes: Uint8Array, charset = 'utf-8'): string {
  try {
    return new TextDecoder(charset).decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes);
  }
}

/** `=?utf-8?Q?caf=C3=A9?=`, of which several in one charset may divide a character. */
function decodeWords(value: string): string {
  const decoded = value
    .replace(/\?=\s+=\?/g, '?==?')
    .replace(/=\?([^?\s]+)\?[BQ]\?[^?]*\?=(?:=\?\1\?[BQ]\?[^?]*\?=)*/gi, (words, charset: string) => {
      const pieces = [...words.matchAll(/=\?[^?]+\?([BQ])\?([^?]*)\?=/gi)];
      return decodeBytes(Buffer.concat(pieces.map(([, form, text]) => wordBytes(form, text))), charset);
    });
  return visibleLine(decoded === value ? decodeBytes(Buffer.from(value, 'latin1')) : decoded);
}

function wordBytes(form = '', text = ''): Buffer {
  return form.toUpperCase() === 'B'
    ? Buffer.from(text, 'base64')
    : Buffer.from(unquote(text.replaceAll('_', ' ')), 'latin1');
}

function parameter(header: string | undefined, name: string): string | undefined {
  const match = new RegExp(`;\\s*${name}\\s*=\\s*(?:"([^"]*)"|([^;\\s]+))`, 'i').exec(header ?? '');
  return match?.[1] ?? match?.[2] ?? extended(header, name);
}

/**
 * `filename*=utf-8''%C3%9Cbersicht.pdf`, or in pieces: `filename*0*=utf-8''%C3%9Cber; filename*1=sicht.pdf`. With one
 * character per byte like other headers.
 */
function extended(header: string | undefined, name: string): string | undefined {
  const form = new RegExp(`;\\s*${name}\\*(\\d{0,3})(\\*?)\\s*=\\s*(?:"([^"]*)"|([^;\\s]+))`, 'gi');
  const pieces = [...(header ?? '').matchAll(form)]
    .map(([, number = '', star, quoted, plain = '']) => {
      return { number: Number(number), isEncoded: star === '*' || number === '', text: quoted ?? plain };
    })
    .sort((a, b) => a.number - b.number);
  const value = pieces.map(({ isEncoded, text }) => (isEncoded ? unescapeBytes(text) : text)).join('');
  const [lead = '', charset] = pieces[0]?.isEncoded ? (/^([\w-]*)'[^']*'/.exec(value) ?? []) : [];
  if (!charset) return value.slice(lead.length) || undefined;
  const decoded = decodeBytes(Buffer.from(value.slice(lead.length), 'latin1'), charset);
  return Buffer.from(decoded).toString('latin1');
}

/** `%C3%9C` */
function unescapeBytes(text: string): string {
  return text.replace(/%([0-9A-Fa-f]{2})/g, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  );
}

function describe(entity: Entity): string {
  const name =
    parameter(entity.headers.get('content-disposition'), 'filename') ??
    parameter(entity.headers.get('content-type'), 'name') ??
    (entity.type === 'message/rfc822' ? parseEntity(entity.body).headers.get('subject') : undefined) ??
    'unnamed';
  return `${decodeWords(name)} (${visibleLine(entity.type)}, ${describeSize(decodeBody(entity).length)})`;
}

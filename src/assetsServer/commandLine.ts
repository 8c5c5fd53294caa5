import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { DEFAULT_MEDIA_BYTES } from '../catalog/contents.ts';
import { READ_THRESHOLDS, type ReadThresholds } from '../catalog/entry.ts';

export const DEFAULT_UPLOAD_BYTES = 50 * 1024 * 1024;
/** An upload is one base64 string, and strings are limited to half a gigabyte. */
export const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;
/** As base64 it must fit in a message, see `MAX_CONTENTS_BYTES`. */
const MAX_MEDIA_BYTES = 7 * 1024 * 1024;
export const TOKEN_VARIABLE = 'FILECHAT_ASSETS_TOKEN';

export const USAGE = `Usage:
  filechat-assets [OPTION]… FOLDER…
      Serves the chats below the folders, and the files in their cmdassets/, to an MCP client.

  --read-only           Clients cannot save files.
  --http [PORT]         Listens on http://127.0.0.1:PORT/mcp instead of stdin and stdout; without PORT, on a free
                        port. Clients need the token in ${TOKEN_VARIABLE}; if it is not set, a new
                        token is created and written to stderr with the address.
  --max-upload-bytes N  The largest file that clients can save. Default ${DEFAULT_UPLOAD_BYTES}, at most ${MAX_UPLOAD_BYTES}.
  --allow-type TYPE     Clients can save only files of this type, such as image/* or application/pdf. Repeatable.
  --max-media-bytes N   The largest audio file that read_asset returns whole. Larger images are scaled.
                        Default ${DEFAULT_MEDIA_BYTES}, at most ${MAX_MEDIA_BYTES}.
  --max-inline-bytes N  Files with more bytes are marked as large. Default ${READ_THRESHOLDS.maxInlineBytes}.
  --max-tokens N        Files with more estimated tokens are marked as large. Default ${READ_THRESHOLDS.maxTokens}.
  --audit FILE          Appends a line of JSON to FILE for each request: time, client, file, bytes and outcome.
  --help, --version

  Exit status: 0 ended by the client or a signal, 1 failed (the reason is on stderr), 2 wrong usage.
`;

type CommandLine =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | ({ readonly kind: 'serve' } & ServeOptions);

export interface ServeOptions extends ReadThresholds {
  readonly folders: readonly string[];
  readonly readOnly: boolean;
  readonly maxUploadBytes: number;
  /** Empty for all types. */
  readonly allowedTypes: readonly string[];
  readonly maxMediaBytes: number;
  /** The path of the audit log. */
  readonly audit?: string;
  /** 0 for any free port; undefined for stdio. */
  readonly port?: number;
}

export class UsageError extends Error {}

const OPTIONS = {
  'read-only': { type: 'boolean' },
  http: { type: 'string' },
  'max-upload-bytes': { type: 'string' },
  'allow-type': { type: 'string', multiple: true },
  'max-media-bytes': { type: 'string' },
  'max-inline-bytes': { type: 'string' },
  'max-tokens': { type: 'string' },
  audit: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export function readCommandLine(argv: readonly string[]): CommandLine {
  const { values, positionals } = parse(withHttpValue(argv));
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  if (positionals.length === 0) throw new UsageError('No folder was given. Name the folders to serve.');
  const number = (name: NumberOption, standard: number, most = Number.MAX_SAFE_INTEGER) =>
    readNumber(name, values[name], standard, most);
  return {
    kind: 'serve',
    folders: positionals,
    readOnly: values['read-only'] ?? false,
    maxUploadBytes: number('max-upload-bytes', DEFAULT_UPLOAD_BYTES, MAX_UPLOAD_BYTES),
    allowedTypes: (values['allow-type'] ?? []).map(readType),
    maxMediaBytes: number('max-media-bytes', DEFAULT_MEDIA_BYTES, MAX_MEDIA_BYTES),
    maxInlineBytes: number('max-inline-bytes', READ_THRESHOLDS.maxInlineBytes),
    maxTokens: number('max-tokens', READ_THRESHOLDS.maxTokens),
    ...(values.audit === undefined ? {} : { audit: readPath(values.audit) }),
    ...(values.http === undefined ? {} : { port: readPort(values.http) }),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    // Node appends advice about arguments that begin with a dash.
    const [problem = ''] = messageOf(error).split('. ');
    throw new UsageError(`${problem.replace(/\.$/, '')}.`);
  }
}

/** The port is optional, which Node's parser does not support. */
function withHttpValue(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((word, at) => {
    if (word !== '--http' || (end !== -1 && at > end)) return word;
    return PORT.test(argv[at + 1] ?? '') ? word : '--http=0';
  });
}

const PORT = /^\d{1,5}$/;

function readPort(text: string): number {
  const port = Number(text);
  if (!PORT.test(text) || port > 65_535) throw new UsageError(`“${text}” is not a valid port.`);
  return port;
}

type NumberOption = 'max-upload-bytes' | 'max-media-bytes' | 'max-inline-bytes' | 'max-tokens';

function readNumber(name: NumberOption, text: string | undefined, standard: number, most: number): number {
  if (text === undefined) return standard;
  const value = Number(text);
  if (!/^[1-9]\d*$/.test(text) || value > most)
    throw new UsageError(`--${name} must be a number from 1 to ${most}, not “${text}”.`);
  return value;
}

function readPath(text: string): string {
  if (text === '') throw new UsageError('--audit must be the path of a file.');
  return text;
}

function readType(text: string): string {
  if (!/^(?:\*|[\w.+-]+)\/(?:\*|[\w.+-]+)$/.test(text))
    throw new UsageError(`--allow-type must be a type such as image/* or application/pdf, not “${text}”.`);
  return text.toLowerCase();
}

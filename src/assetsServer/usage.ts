import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';

export const DEFAULT_UPLOAD_BYTES = 50 * 1024 * 1024;
/** An upload is one base64 string, and strings are limited to half a gigabyte. */
export const MAX_UPLOAD_BYTES = 256 * 1024 * 1024;
export const TOKEN_VARIABLE = 'FILECHAT_ASSETS_TOKEN';

export const USAGE = `Usage:
  filechat-assets [--read-only] [--http [PORT]] [--max-upload-bytes N] [--allow-type TYPE]… FOLDER…
      Serves the chats below the folders, and the files in their cmdassets/, to an MCP client.

  --read-only           Nothing can be saved.
  --http [PORT]         Listens on http://127.0.0.1:PORT/mcp instead of talking over stdin and stdout; without PORT
                        on a free one. Clients need the token in ${TOKEN_VARIABLE}; without that variable a
                        new token is made and written to stderr with the address.
  --max-upload-bytes N  The largest file that can be saved: ${DEFAULT_UPLOAD_BYTES} unless told, ${MAX_UPLOAD_BYTES} at most.
  --allow-type TYPE     Only files of this type can be saved, such as image/* or application/pdf. May be repeated.
  --help, --version

  Exit status: 0 ended by the client or a signal, 1 failed (the reason is on stderr), 2 wrong usage.
`;

export type CommandLine =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | ({ readonly kind: 'serve' } & ServeOptions);

export interface ServeOptions {
  readonly folders: readonly string[];
  readonly readOnly: boolean;
  readonly maxUploadBytes: number;
  /** Empty for all types. */
  readonly allowedTypes: readonly string[];
  /** 0 for any free port; undefined for stdio. */
  readonly port?: number;
}

export class UsageError extends Error {}

const OPTIONS = {
  'read-only': { type: 'boolean' },
  http: { type: 'string' },
  'max-upload-bytes': { type: 'string' },
  'allow-type': { type: 'string', multiple: true },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export function readCommandLine(argv: readonly string[]): CommandLine {
  const { values, positionals } = parse(withHttpValue(argv));
  if (values.help) return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  if (positionals.length === 0) throw new UsageError('Say which folders to serve.');
  return {
    kind: 'serve',
    folders: positionals,
    readOnly: values['read-only'] ?? false,
    maxUploadBytes: readBytes(values['max-upload-bytes']),
    allowedTypes: (values['allow-type'] ?? []).map(readType),
    ...(values.http === undefined ? {} : { port: readPort(values.http) }),
  };
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
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

function readBytes(text: string | undefined): number {
  if (text === undefined) return DEFAULT_UPLOAD_BYTES;
  const bytes = Number(text);
  if (!/^[1-9]\d*$/.test(text) || bytes > MAX_UPLOAD_BYTES)
    throw new UsageError(`--max-upload-bytes must be a number from 1 to ${MAX_UPLOAD_BYTES}, not “${text}”.`);
  return bytes;
}

function readType(text: string): string {
  if (!/^(?:\*|[\w.+-]+)\/(?:\*|[\w.+-]+)$/.test(text))
    throw new UsageError(`--allow-type must be a type such as image/* or application/pdf, not “${text}”.`);
  return text.toLowerCase();
}

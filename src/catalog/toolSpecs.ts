import * as z from 'zod';
import { CatalogRefusal, readAddress } from './entry.ts';

interface WindowLimits {
  readonly defaultBytes: number;
  readonly maxBytes: number;
}

const MAX_PAGE = 200;
export const DEFAULT_PAGE = 50;
const MAX_HITS = 100;
export const DEFAULT_HITS = 20;
const MAX_QUERY_CHARS = 1000;
const MAX_URI_CHARS = 10_000;

const READS = {
  readOnlyHint: true,
  destructiveHint: false,
  idempotentHint: true,
  openWorldHint: false,
} as const;

export const text = (name: string, about: string, longest = MAX_QUERY_CHARS) =>
  z
    .string({ error: `${name} must be a string` })
    .max(longest, { error: `${name} must have at most ${longest} characters` })
    .describe(about);

const whole = (name: string, least: number, most: number, about: string) => {
  const error =
    most === Number.MAX_SAFE_INTEGER
      ? `${name} must be a whole number, ${least} or more`
      : `${name} must be a whole number from ${least} to ${most}`;
  return z.int({ error }).min(least, { error }).max(most, { error }).describe(about);
};

const choice = <const T extends readonly [string, ...string[]]>(name: string, values: T, about: string) =>
  z.enum(values, { error: `${name} must be one of ${values.join(', ')}` }).describe(about);

/** Some models pass null for omitted arguments. */
export const input = <T extends z.ZodRawShape>(shape: T) =>
  z.preprocess(withoutNulls, z.object(shape, { error: 'the arguments must be an object' }));

function withoutNulls(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value ?? {};
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== null));
}

/** Accepts the id of a chat, and the address of a chat or of an asset in it. */
const chat = (about: string, more = '') =>
  text('chat', `${about} A chat as lists name it, such as notes/sales.chat.md.${more}`)
    .transform((written) => {
      const read = readAddress(written);
      return read.ok ? read.address.chat : written;
    })
    .optional();

const LISTED_ASSET = z.object({
  uri: z.string().describe('Its address, for read_asset.'),
  name: z.string(),
  asset: z
    .string()
    .describe('The name of its file. Pass asset:NAME as an argument to give the file to a tool.'),
  chat: z.string(),
  kind: z.enum(['image', 'audio', 'file']),
  mimeType: z.string(),
  size: z.int().describe('In bytes.'),
  lastModified: z.string(),
  estimatedTokens: z.int().describe('The estimated cost of reading all of it.'),
  autoReadSafe: z.boolean(),
  largeFileWarning: z.boolean(),
  tool: z.string().optional().describe('The tool that returned it, as server.tool.'),
  savedBy: z.string().optional().describe('The client that saved it with save_asset.'),
});

const LIST_ASSETS = {
  name: 'list_assets',
  title: 'List assets',
  description:
    'Lists the files that tools returned in chats or that were uploaded, the latest first unless sort and order are given. ' +
    'Returns no contents: use read_asset to read one. If there is a nextCursor, pass it as cursor with the same arguments for the next page.',
  input: input({
    chat: chat('Only the assets of one chat.'),
    filter: text(
      'filter',
      'Words that must all be in the name, type, tool, client or chat, in any case.',
    ).optional(),
    kind: choice('kind', ['image', 'audio', 'file'], 'Only this kind.').optional(),
    mimeType: text('mimeType', 'Only this type, such as application/pdf or image/*.').optional(),
    sort: choice('sort', ['changed', 'name', 'size'], 'The sort key. The default is changed.').optional(),
    order: choice(
      'order',
      ['ascending', 'descending'],
      'The default is ascending for names, and descending otherwise.',
    ).optional(),
    limit: whole('limit', 1, MAX_PAGE, `The maximum number. The default is ${DEFAULT_PAGE}.`).optional(),
    cursor: text('cursor', 'The nextCursor of the previous page.', 10_000).optional(),
  }),
  output: z.object({
    assets: z.array(LISTED_ASSET),
    total: z.int().describe('The number of matches on all pages.'),
    nextCursor: z.string().optional(),
    notes: z.array(z.string()).optional().describe('Folders and chats that could not be read.'),
  }),
  annotations: READS,
} as const;

const SEARCH_CHATS = {
  name: 'search_chats',
  title: 'Search chats',
  description:
    'Finds the turns of chats that contain all words of the query, ignoring case, the latest chats first. ' +
    'To read on around a hit, call read_asset with its uri and start.',
  input: input({
    query: text('query', 'Words, separated by spaces.').min(1, { error: 'query must contain a word' }),
    chat: chat('Only in one chat.'),
    limit: whole(
      'limit',
      1,
      MAX_HITS,
      `The maximum number of hits. The default is ${DEFAULT_HITS}.`,
    ).optional(),
  }),
  output: z.object({
    hits: z.array(
      z.object({
        uri: z.string(),
        chat: z.string(),
        title: z.string(),
        role: z.enum(['system', 'user', 'assistant', 'tool']).optional().describe('Absent for a title.'),
        line: z.int().describe('Counted from 1.'),
        start: z.int().describe('In bytes, for read_asset.'),
        snippet: z.string(),
      }),
    ),
    more: z.boolean().describe('Whether there are more hits than the limit.'),
  }),
  annotations: READS,
} as const;

const SAVE_ASSET = {
  name: 'save_asset',
  title: 'Save an asset',
  description:
    'Saves a file beside a chat, from text or from base64 data: give exactly one of the two. The file gets a generated name; ' +
    'the result has its address and a Markdown link for the chat. The chat itself is not changed, and nothing is overwritten.',
  input: input({
    chat: chat('The chat beside which to save it.', ' Optional if only one folder is served.'),
    name: text('name', 'The name of the file, such as report.pdf, without folders.'),
    mimeType: text(
      'mimeType',
      'The MIME type, such as application/pdf. The bytes are checked too.',
    ).optional(),
    data: z
      .string({ error: 'data must be a string' })
      .optional()
      .describe('The bytes as base64, or as a data: URL.'),
    text: z.string({ error: 'text must be a string' }).optional().describe('The text, saved as UTF-8.'),
  }),
  output: LISTED_ASSET.extend({
    markdown: z.string().describe('The link to write into the chat.'),
    notes: z.array(z.string()).optional().describe('Problems that occurred although the file was saved.'),
  }),
  annotations: { ...READS, readOnlyHint: false, idempotentHint: false },
} as const;

const READ_AS = ['auto', 'image', 'audio', 'resource', 'bytes', 'text'] as const;
export type ReadAs = (typeof READ_AS)[number];

const HOW_TO_READ =
  'image and audio: the whole file as such content. resource: a window as an embedded resource. bytes: the same, also for text. ' +
  'text: a window as plain text. auto, the default: image, audio or the text of a document if the file is one, otherwise resource.';

function readAssetSpec({ defaultBytes, maxBytes }: WindowLimits) {
  return {
    name: 'read_asset',
    title: 'Read an asset',
    description:
      `Reads a window of an asset or a chat: at most maxBytes (default ${defaultBytes}) from byte start on. ` +
      'With a nextStart there is more: continue from there. ' +
      'Images and audio are returned whole, large images scaled. Documents (PDF, Office, HTML, e-mail) are returned as text, ' +
      'and start counts its bytes; a ZIP as a list; other files as bytes.',
    input: input({
      uri: text(
        'uri',
        'filechat://… as lists and searches give it, or asset:NAME with the name of a file.',
        MAX_URI_CHARS,
      ),
      start: whole('start', 0, Number.MAX_SAFE_INTEGER, 'The first byte. The default is 0.').optional(),
      maxBytes: whole('maxBytes', 1, maxBytes, 'The maximum number of bytes.').default(defaultBytes),
      as: choice('as', READ_AS, HOW_TO_READ).optional(),
      pages: z
        .preprocess(
          (value) => (typeof value === 'number' ? String(value) : value),
          text('pages', 'Pages, slides or sheets of a document, such as 3, 1-3,7 or 10-.'),
        )
        .optional(),
    }),
    output: z.object({
      uri: z.string(),
      name: z.string(),
      mimeType: z.string(),
      content: z
        .enum(['text', 'bytes', 'image', 'audio', 'none'])
        .describe(
          'The kind of content that was returned. none: the image or audio is too large; read it in windows.',
        ),
      totalBytes: z.int().describe('The size of the whole file, or of the text of a document.'),
      documentType: z.string().optional().describe('The type of a document whose text was returned.'),
      pageCount: z.int().optional().describe('The number of pages, slides or sheets of the whole document.'),
      start: z.int().describe('The start of the window. Text begins with a whole character.'),
      byteCount: z.int(),
      nextStart: z.int().optional().describe('The start of the next window. Absent at the end.'),
      lastModified: z.string(),
      estimatedTokens: z.int().describe('The estimated cost of reading all of it.'),
      autoReadSafe: z.boolean(),
      largeFileWarning: z.boolean(),
    }),
    annotations: READS,
  } as const;
}

/** Unknown arguments are ignored: models often add some, and an error would cost a turn. */
const specs = (window: WindowLimits) => ({
  list_assets: LIST_ASSETS,
  read_asset: readAssetSpec(window),
  search_chats: SEARCH_CHATS,
  save_asset: SAVE_ASSET,
});

/** Clients decide what to do with the bytes; in chats all of them go to a model. */
export const SERVER_WINDOW: WindowLimits = { defaultBytes: 65_536, maxBytes: 4 * 1024 * 1024 };
const BUILT_IN_WINDOW: WindowLimits = { defaultBytes: 8192, maxBytes: 32_768 };
export const SERVER_SPECS = specs(SERVER_WINDOW);
export const BUILT_IN_SPECS = specs(BUILT_IN_WINDOW);

export type ToolName = keyof typeof SERVER_SPECS;

export type ListedAsset = z.output<typeof LISTED_ASSET>;
export type AssetQuery = z.output<typeof LIST_ASSETS.input>;
export type ChatQuery = z.output<typeof SEARCH_CHATS.input>;
export type Upload = z.output<typeof SAVE_ASSET.input>;
export type ListOutput = z.output<typeof LIST_ASSETS.output>;
export type ReadOutput = z.output<ReturnType<typeof readAssetSpec>['output']>;
export type SearchOutput = z.output<typeof SEARCH_CHATS.output>;
export type SaveOutput = z.output<typeof SAVE_ASSET.output>;

/** Throws a `CatalogRefusal` that names each invalid argument. */
export function readArguments<T extends z.ZodType>(
  spec: { readonly name: string; readonly input: T },
  value: unknown,
): z.output<T> {
  const read = spec.input.safeParse(value ?? {});
  if (read.success) return read.data;
  const messages = [...new Set(read.error.issues.map(({ message }) => message))];
  throw new CatalogRefusal(`The arguments of ${spec.name} are invalid: ${messages.join('; ')}.`);
}

export function inputSchema(spec: { readonly input: z.ZodType }): Readonly<Record<string, unknown>> {
  const { $schema: _dialect, ...schema } = z.toJSONSchema(spec.input, { io: 'input' });
  return schema;
}

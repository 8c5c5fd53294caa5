import type { Keywords } from '../schema/schema.ts';

/** What can be told of a string from its schema, its name and its description. */
export interface Hints {
  readonly format: string;
  readonly encoding: string;
  readonly pattern: string;
  readonly hasMediaType: boolean;
  /** What the name says; the last word of it counts most: a `data_path` is a path, a `path_data` is data. */
  readonly name: {
    readonly bytes: boolean;
    readonly path: boolean;
    readonly url: boolean;
    readonly data: boolean;
  };
  /** What the description says. */
  readonly about: {
    readonly dataUrl: boolean;
    readonly base64: boolean;
    readonly beginsWithPath: boolean;
    readonly path: boolean;
    readonly data: boolean;
  };
}

export interface Described {
  readonly name: string;
  readonly description: string;
  readonly keywords: Keywords;
}

/** Descriptions come from servers; what they ask for they say early. */
const MAX_DESCRIPTION_CHARS = 1000;

export function readHints({ name, description, keywords }: Described): Hints {
  return {
    format: lower(keywords['format']),
    encoding: lower(keywords['contentEncoding']),
    pattern: typeof keywords['pattern'] === 'string' ? keywords['pattern'] : '',
    hasMediaType: typeof keywords['contentMediaType'] === 'string',
    name: readName(name),
    about: readDescription(description.slice(0, MAX_DESCRIPTION_CHARS)),
  };
}

const BASE64_WORDS = new Set(['base64', 'b64']);
const BYTES_WORDS = new Set(['bytes', 'blob', 'blobs']);
const PATH_WORDS = new Set([
  'path',
  'paths',
  'file',
  'files',
  'filename',
  'filenames',
  'filepath',
  'filepaths',
  'pathname',
]);
const URL_WORDS = new Set(['url', 'urls', 'uri', 'uris', 'href']);
const DATA_WORDS = new Set(['data', 'content', 'contents']);

function readName(name: string): Hints['name'] {
  const words = splitWords(name);
  const last = words.at(-1) ?? '';
  return {
    bytes: words.some((word) => BASE64_WORDS.has(word)) || BYTES_WORDS.has(last),
    path: PATH_WORDS.has(last) || words.slice(-2).join(' ') === 'file name',
    url: URL_WORDS.has(last),
    data: DATA_WORDS.has(last),
  };
}

/** `inputFile`, `input_file`, `input-file` and `INPUT_FILE` are two words each; `base64` is one. */
function splitWords(name: string): string[] {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .filter((word) => word !== '');
}

const DATA_URL = /\bdata:?[ -]?ur[li]s?\b|\bdata:[a-z*]+\/|\bdata:.{0,20};base64/i;
/** “base64, without the data: URL prefix” asks for the opposite. */
const NO_DATA_URL =
  /\b(?:without|not|no|omit|strip|excluding|exclude|minus)\b[^.;]{0,30}\bdata:?[ -]?(?:ur[li]|prefix|scheme)/i;
const BASE64 = /\bbase[ -]?64\b|\bb64\b/i;
const BEGINS_WITH_PATH =
  /^\W*(?:(?:the|an?|absolute|relative|full|local|input|source|file|disk|system|optional)\W+)*(?:file)?(?:path|name of the file|filename)s?\b/i;
const PATH = /\bpaths?\b|\bfile ?paths?\b|\bfile ?names?\b/i;
const DATA = /\bdata\b|\bbytes\b|\bblobs?\b|\bcontents?\b/i;

function readDescription(description: string): Hints['about'] {
  return {
    dataUrl: DATA_URL.test(description) && !NO_DATA_URL.test(description),
    base64: BASE64.test(description),
    beginsWithPath: BEGINS_WITH_PATH.test(description),
    path: PATH.test(description),
    data: DATA.test(description),
  };
}

function lower(value: unknown): string {
  return typeof value === 'string' ? value.toLowerCase() : '';
}

import type { AssetKind } from '../ports/results.ts';

export interface MediaType {
  readonly extension: string;
  /** Other extensions of the same type. */
  readonly aliases: readonly string[];
  readonly kind: AssetKind;
  /** The usual MIME type first, then its synonyms. */
  readonly types: readonly [string, ...string[]];
}

function media(kind: AssetKind, names: string, ...types: MediaType['types']): MediaType {
  const [extension = '', ...aliases] = names.split(' ');
  return { kind, extension, aliases, types };
}

/** Assets get no extension that is not in this table. An `image` is one that every browser can show. */
export const MEDIA_TYPES: readonly MediaType[] = [
  media('image', 'png', 'image/png', 'image/x-png'),
  media('image', 'jpg jpeg jpe', 'image/jpeg', 'image/jpg', 'image/pjpeg'),
  media('image', 'gif', 'image/gif'),
  media('image', 'webp', 'image/webp'),
  media('image', 'avif', 'image/avif'),
  media('image', 'bmp', 'image/bmp', 'image/x-ms-bmp'),
  media('image', 'ico cur', 'image/x-icon', 'image/vnd.microsoft.icon'),
  media('image', 'apng', 'image/apng'),
  media('file', 'svg', 'image/svg+xml', 'image/svg'),
  media('file', 'tif tiff', 'image/tiff'),
  media('file', 'heic heif', 'image/heic', 'image/heif'),
  media('file', 'jxl', 'image/jxl'),
  media('file', 'psd', 'image/vnd.adobe.photoshop'),

  media('audio', 'mp3', 'audio/mpeg', 'audio/mp3', 'audio/x-mp3', 'audio/mpeg3'),
  media('audio', 'wav', 'audio/wav', 'audio/x-wav', 'audio/wave', 'audio/vnd.wave'),
  media('audio', 'ogg oga ogx spx', 'audio/ogg', 'application/ogg', 'audio/vorbis'),
  media('audio', 'opus', 'audio/opus'),
  media('audio', 'flac', 'audio/flac', 'audio/x-flac'),
  media('audio', 'm4a m4b m4p f4a', 'audio/mp4', 'audio/x-m4a', 'audio/m4a'),
  media('audio', 'aac', 'audio/aac', 'audio/x-aac'),
  media('audio', 'weba', 'audio/webm'),
  media('audio', 'aif aiff', 'audio/aiff', 'audio/x-aiff'),
  media('audio', 'amr', 'audio/amr'),
  media('audio', 'mid midi', 'audio/midi', 'audio/x-midi'),

  media('file', 'mp4 m4v f4v', 'video/mp4'),
  media('file', 'webm', 'video/webm'),
  media('file', 'mov', 'video/quicktime'),
  media('file', 'mkv', 'video/matroska', 'video/x-matroska'),
  media('file', 'avi', 'video/x-msvideo', 'video/vnd.avi'),
  media('file', 'ogv ogm', 'video/ogg'),
  media('file', 'mpg', 'video/mpeg'),
  media('file', '3gp 3g2', 'video/3gpp', 'video/3gpp2'),

  media('file', 'pdf', 'application/pdf', 'application/x-pdf'),
  media('file', 'docx', 'application/vnd.openxmlformats-officedocument.wordprocessingml.document'),
  media('file', 'xlsx', 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'),
  media('file', 'pptx', 'application/vnd.openxmlformats-officedocument.presentationml.presentation'),
  media('file', 'doc', 'application/msword'),
  media('file', 'xls', 'application/vnd.ms-excel'),
  media('file', 'ppt', 'application/vnd.ms-powerpoint'),
  media('file', 'odt', 'application/vnd.oasis.opendocument.text'),
  media('file', 'ods', 'application/vnd.oasis.opendocument.spreadsheet'),
  media('file', 'odp', 'application/vnd.oasis.opendocument.presentation'),
  media('file', 'docm', 'application/vnd.ms-word.document.macroenabled.12'),
  media('file', 'xlsm', 'application/vnd.ms-excel.sheet.macroenabled.12'),
  media('file', 'pptm', 'application/vnd.ms-powerpoint.presentation.macroenabled.12'),
  media('file', 'rtf', 'application/rtf', 'text/rtf'),
  media('file', 'epub', 'application/epub+zip'),
  media('file', 'parquet', 'application/vnd.apache.parquet'),
  media('file', 'sqlite', 'application/vnd.sqlite3', 'application/x-sqlite3'),

  media('file', 'zip', 'application/zip', 'application/x-zip-compressed'),
  media('file', 'gz tgz tar.gz', 'application/gzip', 'application/x-gzip'),
  media('file', 'tar', 'application/x-tar', 'application/tar'),
  media('file', '7z', 'application/x-7z-compressed'),
  media('file', 'bz2', 'application/x-bzip2'),
  media('file', 'xz', 'application/x-xz'),
  media('file', 'zst', 'application/zstd'),
  media('file', 'rar', 'application/x-rar-compressed', 'application/vnd.rar'),
  media('file', 'wasm', 'application/wasm'),
  media('file', 'woff', 'font/woff'),
  media('file', 'woff2', 'font/woff2'),
  media('file', 'ttf', 'font/ttf'),
  media('file', 'otf', 'font/otf'),

  media('file', 'txt text', 'text/plain'),
  media('file', 'md markdown', 'text/markdown', 'text/x-markdown'),
  media('file', 'csv', 'text/csv'),
  media('file', 'tsv', 'text/tab-separated-values'),
  media('file', 'json', 'application/json', 'text/json'),
  media('file', 'jsonl ndjson', 'application/jsonl', 'application/x-ndjson'),
  media('file', 'xml', 'application/xml', 'text/xml'),
  media('file', 'yaml yml', 'application/yaml', 'text/yaml', 'application/x-yaml', 'text/x-yaml'),
  media('file', 'html htm', 'text/html', 'application/xhtml+xml'),
  media('file', 'css', 'text/css'),
  media('file', 'js mjs', 'text/javascript', 'application/javascript'),
  media('file', 'ts', 'text/typescript', 'application/typescript'),
  media('file', 'py', 'text/x-python'),
  media('file', 'sql', 'application/sql', 'text/x-sql'),
  media('file', 'ics', 'text/calendar'),
  media('file', 'eml', 'message/rfc822'),
  media('file', 'ipynb', 'application/x-ipynb+json'),
  media('file', 'log', 'text/x-log'),
];

export const UNKNOWN: MediaType = media('file', 'bin', 'application/octet-stream');

/** Formats that share the head of their container; only a declared type or a name tells them apart. */
const INSIDE: Readonly<Record<string, readonly string[]>> = {
  zip: ['docx', 'xlsx', 'pptx', 'docm', 'xlsm', 'pptm', 'odt', 'ods', 'odp', 'epub'],
  cfb: ['doc', 'xls', 'ppt'],
};

export function canBeInside(container: string, claimed: MediaType): boolean {
  return Object.hasOwn(INSIDE, container) && INSIDE[container]?.includes(claimed.extension) === true;
}

export function mediaByExtension(extension: string): MediaType | undefined {
  const lower = extension.toLowerCase();
  return MEDIA_TYPES.find(({ extension: name, aliases }) => name === lower || aliases.includes(lower));
}

export function mediaByType(type: string): MediaType | undefined {
  return MEDIA_TYPES.find((each) => each.types.includes(type));
}

const TEXT_TYPES =
  /^(?:application\/(?:json|jsonl|xml|yaml|sql|x-ndjson|x-ipynb\+json)|image\/svg\+xml|message\/rfc822)$/;

/** Whether files of this type should be text. Their bytes may still not be UTF-8. */
export function isTextType(type: string): boolean {
  return type.startsWith('text/') || TEXT_TYPES.test(type);
}

/** Patterns are types, groups such as `image/*`, or `*`. Synonyms are equal: `audio/mp3` allows `audio/mpeg`. */
export function isAllowedType(type: string, patterns: readonly string[]): boolean {
  const wanted = usualType(type);
  const group = wanted.replace(/\/.*/s, '/*');
  return patterns.map(usualType).some((each) => ['*/*', '*', group, wanted].includes(each));
}

function usualType(type: string): string {
  const name = (type.split(';')[0] ?? '').trim().toLowerCase();
  return mediaByType(name)?.types[0] ?? name;
}

/** For messages. */
export function listTypes(patterns: readonly string[]): string {
  return patterns.join(', ') || 'nothing';
}

/** By the part of the MIME type after the slash, without `x-`. */
const LANGUAGES: Readonly<Record<string, string>> = {
  'c++src': 'cpp',
  csharp: 'csharp',
  csrc: 'c',
  css: 'css',
  diff: 'diff',
  ecmascript: 'javascript',
  go: 'go',
  haskell: 'haskell',
  html: 'html',
  java: 'java',
  'java-source': 'java',
  javascript: 'javascript',
  json: 'json',
  kotlin: 'kotlin',
  lua: 'lua',
  markdown: 'markdown',
  patch: 'diff',
  perl: 'perl',
  php: 'php',
  'httpd-php': 'php',
  python: 'python',
  'python-script': 'python',
  r: 'r',
  ruby: 'ruby',
  rust: 'rust',
  rustsrc: 'rust',
  scala: 'scala',
  sh: 'sh',
  shellscript: 'sh',
  sql: 'sql',
  swift: 'swift',
  tex: 'latex',
  toml: 'toml',
  typescript: 'typescript',
  xml: 'xml',
  yaml: 'yaml',
};

/** The info string of fenced code of this type; undefined for plain and unknown text. */
export function languageOf(type: string | undefined): string | undefined {
  const subtype =
    /^(?:text|application)\/(?:x-)?([a-z+-]+)\s*(?:;|$)/.exec(type?.toLowerCase() ?? '')?.[1] ?? '';
  return Object.hasOwn(LANGUAGES, subtype) ? LANGUAGES[subtype] : undefined;
}

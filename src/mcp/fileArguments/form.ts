import { isObject } from '../../base/json.ts';
import type { FileReference } from '../../ports/document.ts';
import { alternativesOf, flattenSchema, type Keywords } from '../schema/schema.ts';

/** The value that replaces a file reference. */
export type FileForm =
  | { readonly kind: 'base64' | 'base64url' | 'dataUrl' | 'path' | 'fileUrl' }
  | { readonly kind: 'list'; readonly of: FileForm }
  | { readonly kind: 'object'; readonly fields: readonly FormField[] };

export type StringForm = Extract<FileForm, { kind: 'base64' | 'base64url' | 'dataUrl' | 'path' | 'fileUrl' }>;

export interface FormField {
  readonly name: string;
  readonly value:
    | { readonly kind: 'name' | 'mimeType' | 'size' }
    | { readonly kind: 'constant'; readonly constant: unknown }
    | StringForm;
}

/** A position in the arguments; `root` is the schema in which references are resolved. */
export interface ArgumentPlace {
  readonly name: string;
  readonly schema: unknown;
  readonly root: unknown;
  /** The description of the enclosing list or union. */
  readonly description?: string;
}

type ReferenceKind = FileReference['kind'];

export interface InferredForm {
  readonly form: FileForm;
  /** True when the schema asks for a file; false when it merely allows one. */
  readonly explicit: boolean;
}

const MAX_DEPTH = 8;

/** The form that the schema expects; undefined if it does not accept a file. Never throws. */
export function inferForm(place: ArgumentPlace, source: ReferenceKind, depth = 0): InferredForm | undefined {
  if (depth > MAX_DEPTH) return undefined;
  const { keywords } = flattenSchema(place.schema, place.root);
  const description = textOf(keywords['description']) || (place.description ?? '');
  const within = { ...place, description };
  const members = alternativesOf(keywords, place.root);
  if (members) return inferUnion(within, withRest(members, keywords), source, depth);
  if (isChosen(keywords)) return undefined;
  const types = [keywords['type'] ?? impliedType(keywords)].flat();
  if (types.includes('string') || types.includes(undefined)) {
    return inferString(readHints(place.name, description, keywords), source);
  }
  if (types.includes('array')) return inferList(within, keywords, source, depth);
  return types.includes('object') ? inferObject(within, keywords, source) : undefined;
}

/** The first match applies. Keywords take precedence over names and descriptions. */
const STRING_FORMS: readonly {
  readonly form: StringForm['kind'];
  readonly when: (hints: Hints) => boolean;
  /** Good enough to convert a reference, but no sign that the schema asks for a file. */
  readonly weak?: true;
}[] = [
  {
    form: 'dataUrl',
    when: ({ format, pattern }) => isOneOf(format, 'data-url', 'data-uri') || pattern.startsWith('^data:'),
  },
  { form: 'base64url', when: ({ encoding, format }) => encoding === 'base64url' || format === 'base64url' },
  {
    form: 'base64',
    when: ({ encoding, format }) => encoding === 'base64' || isOneOf(format, 'byte', 'base64', 'binary'),
  },
  { form: 'dataUrl', when: ({ about }) => about.dataUrl },
  // Most URLs are those of web pages.
  { form: 'fileUrl', when: ({ format }) => isOneOf(format, 'uri', 'url', 'iri'), weak: true },
  {
    form: 'path',
    when: ({ format }) => isOneOf(format, 'path', 'file-path', 'uri-reference', 'iri-reference'),
  },
  // “file: the base64 of …” is not a path, despite its name.
  { form: 'base64', when: ({ about, name }) => about.base64 || name.bytes },
  // “data: path to the table” is not data.
  { form: 'path', when: ({ about, name }) => about.beginsWithPath || name.path },
  { form: 'fileUrl', when: ({ name }) => name.url, weak: true },
  { form: 'base64', when: ({ name, hasMediaType }) => name.data || hasMediaType },
  { form: 'path', when: ({ about }) => about.path },
  { form: 'base64', when: ({ about }) => about.data, weak: true },
];

/**
 * Used when the schema says nothing. Assets are sent as bytes, because the next tool may run on another machine
 * without access to `cmdassets/`.
 */
const DEFAULT_FORMS: Readonly<Record<ReferenceKind, StringForm['kind']>> = {
  asset: 'base64',
  file: 'path',
};

function inferString(hints: Hints, source: ReferenceKind): InferredForm & { readonly form: StringForm } {
  const found = STRING_FORMS.find(({ when }) => when(hints));
  return {
    form: { kind: found?.form ?? DEFAULT_FORMS[source] },
    explicit: found !== undefined && !found.weak,
  };
}

/** Keywords beside a union apply to each member; many members only list required names. */
function withRest(members: readonly Keywords[], keywords: Keywords): readonly Keywords[] {
  const { anyOf: _anyOf, oneOf: _oneOf, description: _description, ...rest } = keywords;
  return members.map((member) => ({ ...rest, ...member }));
}

/** Prefers alternatives that ask for a file over those that allow one, and strings over lists and objects. */
function inferUnion(
  place: ArgumentPlace,
  members: readonly Keywords[],
  source: ReferenceKind,
  depth: number,
): InferredForm | undefined {
  const inferred = members.flatMap((schema) => inferForm({ ...place, schema }, source, depth + 1) ?? []);
  const isString = ({ form }: InferredForm) => form.kind !== 'list' && form.kind !== 'object';
  return (
    inferred.find((each) => each.explicit && isString(each)) ??
    inferred.find((each) => each.explicit) ??
    inferred.find(isString) ??
    inferred[0]
  );
}

function inferList(
  place: ArgumentPlace,
  keywords: Keywords,
  source: ReferenceKind,
  depth: number,
): InferredForm | undefined {
  const { items, prefixItems } = keywords;
  const schema = Array.isArray(prefixItems) ? prefixItems[0] : items;
  const inferred = inferForm({ ...place, schema }, source, depth + 1);
  return inferred && { form: { kind: 'list', of: inferred.form }, explicit: inferred.explicit };
}

// Property names of objects that represent files, in lower case and without `_` and `-`.
const NAME_FIELDS = ['name', 'filename'];
const TYPE_FIELDS = ['mimetype', 'mediatype', 'contenttype', 'mime', 'type'];
const SIZE_FIELDS = ['size', 'filesize', 'bytelength'];
/** Properties for the file itself, best first. */
const CARRIERS = 'data base64 blob bytes content contents body path filepath uri url'.split(' ');

const FREE_FORM: FileForm = {
  kind: 'object',
  fields: [
    { name: 'name', value: { kind: 'name' } },
    { name: 'mimeType', value: { kind: 'mimeType' } },
    { name: 'data', value: { kind: 'base64' } },
  ],
};

function inferObject(
  place: ArgumentPlace,
  keywords: Keywords,
  source: ReferenceKind,
): InferredForm | undefined {
  const properties = isObject(keywords['properties']) ? Object.entries(keywords['properties']) : [];
  if (properties.length === 0) return { form: FREE_FORM, explicit: false };
  const carriers = chooseCarriers(properties, keywords['required']);
  if (carriers.size === 0) return undefined;
  const fields = properties.flatMap(([name, schema]) => {
    const field = carriers.has(name)
      ? carrierField({ name, schema, root: place.root }, source)
      : describingField(name, flattenSchema(schema, place.root).keywords);
    return field ? [field] : [];
  });
  return { form: { kind: 'object', fields }, explicit: true };
}

/** All required ones, otherwise only the best one, so that the file is not sent twice. */
function chooseCarriers(
  properties: readonly (readonly [string, unknown])[],
  required: unknown,
): ReadonlySet<string> {
  const names = properties.map(([name]) => name).filter((name) => CARRIERS.includes(plain(name)));
  const needed = names.filter((name) => Array.isArray(required) && required.includes(name));
  if (needed.length > 0) return new Set(needed);
  const rank = (name: string) => CARRIERS.indexOf(plain(name));
  return new Set(names.toSorted((a, b) => rank(a) - rank(b)).slice(0, 1));
}

function carrierField(place: ArgumentPlace, source: ReferenceKind): FormField | undefined {
  const { keywords } = flattenSchema(place.schema, place.root);
  const description = textOf(keywords['description']);
  const { form } = inferString(readHints(place.name, description, keywords), source);
  return isChosen(keywords) ? constantField(place.name, keywords) : { name: place.name, value: form };
}

function describingField(name: string, keywords: Keywords): FormField | undefined {
  const called = plain(name);
  if (isChosen(keywords)) return constantField(name, keywords);
  if (NAME_FIELDS.includes(called)) return { name, value: { kind: 'name' } };
  if (TYPE_FIELDS.includes(called)) return { name, value: { kind: 'mimeType' } };
  return SIZE_FIELDS.includes(called) && keywords['type'] !== 'string'
    ? { name, value: { kind: 'size' } }
    : undefined;
}

/** Picks the value for `type: { const: "file" }` or `encoding: { enum: ["utf8", "base64"] }`. */
function constantField(name: string, { const: constant, enum: choices }: Keywords): FormField | undefined {
  const values = Array.isArray(choices) ? choices : [constant];
  const chosen = values.length === 1 ? values[0] : values.find((value) => value === 'base64');
  return chosen === undefined ? undefined : { name, value: { kind: 'constant', constant: chosen } };
}

function isChosen(keywords: Keywords): boolean {
  return Object.hasOwn(keywords, 'const') || Array.isArray(keywords['enum']);
}

function impliedType(keywords: Keywords): string | undefined {
  if (keywords['properties'] !== undefined) return 'object';
  return keywords['items'] === undefined ? undefined : 'array';
}

function plain(name: string): string {
  return name.toLowerCase().replace(/[_-]/g, '');
}

function isOneOf(value: string, ...values: readonly string[]): boolean {
  return values.includes(value);
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type Hints = ReturnType<typeof readHints>;

const MAX_DESCRIPTION_CHARS = 1000;

function readHints(name: string, description: string, keywords: Keywords) {
  return {
    format: textOf(keywords['format']).toLowerCase(),
    encoding: textOf(keywords['contentEncoding']).toLowerCase(),
    pattern: textOf(keywords['pattern']),
    hasMediaType: typeof keywords['contentMediaType'] === 'string',
    name: readName(name),
    about: readDescription(description.slice(0, MAX_DESCRIPTION_CHARS)),
  };
}

/** The last word counts most: `data_path` is a path, `path_data` is data. */
function readName(name: string) {
  const words = splitWords(name);
  const last = words.at(-1) ?? '';
  return {
    bytes: words.includes('base64') || words.includes('b64') || /^(?:bytes|blobs?)$/.test(last),
    path:
      /^(?:paths?|(?:file|filename|filepath)s?|pathname)$/.test(last) ||
      words.slice(-2).join(' ') === 'file name',
    url: /^(?:ur[li]s?|href)$/.test(last),
    data: /^(?:data|contents?)$/.test(last),
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
/** Such as “base64, without the data: URL prefix”. */
const NO_DATA_URL =
  /\b(?:without|not|no|omit|strip|excluding|exclude|minus)\b[^.;]{0,30}\bdata:?[ -]?(?:ur[li]|prefix|scheme)/i;
const BASE64 = /\bbase[ -]?64\b|\bb64\b/i;
const BEGINS_WITH_PATH =
  /^\W*(?:(?:the|an?|absolute|relative|full|local|input|source|file|disk|system|optional)\W+)*(?:file)?(?:path|name of the file|filename)s?\b/i;
const PATH = /\bpaths?\b|\bfile ?paths?\b|\bfile ?names?\b/i;
const DATA = /\bdata\b|\bbytes\b|\bblobs?\b|\bcontents?\b/i;

function readDescription(description: string) {
  return {
    dataUrl: DATA_URL.test(description) && !NO_DATA_URL.test(description),
    base64: BASE64.test(description),
    beginsWithPath: BEGINS_WITH_PATH.test(description),
    path: PATH.test(description),
    data: DATA.test(description),
  };
}

import { pathToFileURL } from 'node:url';
import type { FileReference, FoundFile } from '../../ports/document.ts';
import type { Keywords, SchemaWalk } from '../schema/walk.ts';

/** The kind of value that replaces a file reference. */
export interface FileForm {
  readonly kind: 'string' | 'list' | 'object';
  readonly description: string;
  /** Whether `render` needs the bytes of the file; otherwise `base64` may be empty. */
  readonly needsBytes: boolean;
  readonly render: (file: LoadedFile) => unknown;
}

type LoadedFile = Omit<FoundFile, 'read'> & { readonly base64: string };

/** A position in the arguments; `walk` reads the schema of all of them. */
export interface ArgumentPlace {
  readonly name: string;
  readonly schema: unknown;
  readonly walk: SchemaWalk;
  /** The description of the enclosing list or union. */
  readonly description?: string;
}

type ReferenceKind = FileReference['kind'];

interface InferredForm {
  readonly form: FileForm;
  /** True when the schema asks for a file; false when it merely allows one. */
  readonly explicit: boolean;
}

const MAX_DEPTH = 8;

/** The form that the schema expects; undefined if it does not accept a file. Never throws. */
export function inferForm(place: ArgumentPlace, source: ReferenceKind, depth = 0): InferredForm | undefined {
  const { walk } = place;
  const { keywords } = walk.flatten(place.schema);
  if (depth > MAX_DEPTH || walk.isSpent) return undefined;
  const description = textOf(keywords['description']) || (place.description ?? '');
  const inferInner = (schema: unknown) => inferForm({ ...place, description, schema }, source, depth + 1);
  const members = walk.alternatives(keywords);
  if (members) {
    const rest = besideUnion(keywords);
    const infer = (member: Keywords) => inferInner({ ...rest, ...member }) ?? [];
    return chooseForm(members.flatMap((member) => (walk.isSpent ? [] : infer(member))));
  }
  if (isChosen(keywords)) return undefined;
  const types = [keywords['type'] ?? impliedType(keywords)].flat();
  if (types.includes('string') || types.includes(undefined)) {
    return inferString(readHints(place.name, description, keywords), source);
  }
  if (types.includes('array')) {
    const { items, prefixItems } = keywords;
    const inferred = inferInner(Array.isArray(prefixItems) ? prefixItems[0] : items);
    return inferred && { form: listOf(inferred.form), explicit: inferred.explicit };
  }
  return types.includes('object') ? inferObject(walk, keywords, source) : undefined;
}

const STRINGS = {
  base64: stringForm('base64', ({ base64 }) => base64),
  base64url: stringForm('base64url', ({ base64 }) =>
    base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', ''),
  ),
  dataUrl: stringForm('a data: URL', ({ mimeType, base64 }) => `data:${mimeType};base64,${base64}`),
  path: stringForm('the path', ({ path }) => path, false),
  fileUrl: stringForm('the file: URL', ({ path }) => pathToFileURL(path).href, false),
};

function stringForm(description: string, render: FileForm['render'], needsBytes = true): FileForm {
  return { kind: 'string', description, needsBytes, render };
}

function listOf({ description, needsBytes, render }: FileForm): FileForm {
  const list = (file: LoadedFile) => [render(file)];
  return { kind: 'list', description: `a list with ${description}`, needsBytes, render: list };
}

/** The value of one property, by its name. */
type FormFields = ReadonlyMap<string, Pick<FileForm, 'needsBytes' | 'render'>>;

function objectWith(fields: FormFields): FileForm {
  const needsBytes = [...fields.values()].some((field) => field.needsBytes);
  return {
    kind: 'object',
    description: `an object (${[...fields.keys()].join(', ')}) with ${needsBytes ? 'the bytes' : 'the path'}`,
    needsBytes,
    render: (file) => Object.fromEntries([...fields].map(([name, { render }]) => [name, render(file)])),
  };
}

/** The first match applies. Keywords take precedence over names and descriptions. */
const STRING_FORMS: readonly {
  readonly form: keyof typeof STRINGS;
  readonly when: (hints: Hints) => boolean;
  /** Sufficient to convert a reference, but not evidence that the schema asks for a file. */
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
  { form: 'dataUrl', when: ({ about }) => DATA_URL.test(about) && !NO_DATA_URL.test(about) },
  // Most URLs are those of web pages.
  { form: 'fileUrl', when: ({ format }) => isOneOf(format, 'uri', 'url', 'iri'), weak: true },
  {
    form: 'path',
    when: ({ format }) => isOneOf(format, 'path', 'file-path', 'uri-reference', 'iri-reference'),
  },
  // “file: the base64 of …” is not a path, despite its name.
  { form: 'base64', when: ({ about, name }) => BASE64.test(about) || BYTES_NAME.test(name) },
  // “data: path to the table” is not data.
  { form: 'path', when: ({ about, name }) => BEGINS_WITH_PATH.test(about) || PATH_NAME.test(name) },
  { form: 'fileUrl', when: ({ name }) => URL_NAME.test(name), weak: true },
  { form: 'base64', when: ({ name, hasMediaType }) => DATA_NAME.test(name) || hasMediaType },
  { form: 'path', when: ({ about }) => PATH.test(about) },
  { form: 'base64', when: ({ about }) => DATA.test(about), weak: true },
];

/**
 * Used when the schema says nothing. Assets are sent as bytes, because the next tool may run on another machine
 * without access to `cmdassets/`.
 */
const DEFAULT_FORMS: Readonly<Record<ReferenceKind, keyof typeof STRINGS>> = {
  asset: 'base64',
  file: 'path',
};

function inferString(hints: Hints, source: ReferenceKind): InferredForm {
  const found = STRING_FORMS.find(({ when }) => when(hints));
  return {
    form: STRINGS[found?.form ?? DEFAULT_FORMS[source]],
    explicit: found !== undefined && !found.weak,
  };
}

/** Keywords beside a union apply to each member; many members only list required names. */
function besideUnion(keywords: Keywords): Keywords {
  const { anyOf: _anyOf, oneOf: _oneOf, description: _description, ...rest } = keywords;
  return rest;
}

/** Prefers alternatives that ask for a file over those that allow one, and strings over lists and objects. */
function chooseForm(inferred: readonly InferredForm[]): InferredForm | undefined {
  const isString = ({ form }: InferredForm) => form.kind === 'string';
  return (
    inferred.find((each) => each.explicit && isString(each)) ??
    inferred.find((each) => each.explicit) ??
    inferred.find(isString) ??
    inferred[0]
  );
}

// Property names of objects that represent files, in lower case and without `_` and `-`.
const NAME_FIELDS = ['name', 'filename'];
const TYPE_FIELDS = ['mimetype', 'mediatype', 'contenttype', 'mime', 'type'];
const SIZE_FIELDS = ['size', 'filesize', 'bytelength'];
/** Properties for the file itself, best first. */
const CARRIERS = 'data base64 blob bytes content contents body path filepath uri url'.split(' ');

const fact = (render: FileForm['render']) => ({ needsBytes: false, render });
const FACTS = {
  name: fact(({ name }) => name),
  mimeType: fact(({ mimeType }) => mimeType),
  size: fact(({ size }) => size),
};

const FREE_FORM = objectWith(
  new Map([
    ['name', FACTS.name],
    ['mimeType', FACTS.mimeType],
    ['data', STRINGS.base64],
  ]),
);

function inferObject(walk: SchemaWalk, keywords: Keywords, source: ReferenceKind): InferredForm | undefined {
  const { properties: all, required } = walk.propertiesOf(keywords);
  const properties = walk.spend(all.size) ? [...all] : [];
  if (walk.isSpent) return undefined;
  if (properties.length === 0) return { form: FREE_FORM, explicit: false };
  const carriers = chooseCarriers(properties, required);
  if (carriers.size === 0) return undefined;
  const fields = properties.flatMap(([name, schema]) => {
    const own = walk.flatten(schema).keywords;
    const hints = readHints(name, textOf(own['description']), own);
    const carrier = carriers.has(name) ? inferString(hints, source).form : undefined;
    const value = isChosen(own) ? constantOf(own) : (carrier ?? factFor(name, own));
    return value ? [[name, value] as const] : [];
  });
  return { form: objectWith(new Map(fields)), explicit: true };
}

/** All required ones, otherwise only the best one, so that the file is not sent twice. */
function chooseCarriers(
  properties: readonly (readonly [string, unknown])[],
  required: ReadonlySet<string>,
): ReadonlySet<string> {
  const names = properties.map(([name]) => name).filter((name) => CARRIERS.includes(plain(name)));
  const needed = names.filter((name) => required.has(name));
  if (needed.length > 0) return new Set(needed);
  const rank = (name: string) => CARRIERS.indexOf(plain(name));
  return new Set(names.toSorted((a, b) => rank(a) - rank(b)).slice(0, 1));
}

function factFor(name: string, keywords: Keywords) {
  const called = plain(name);
  if (NAME_FIELDS.includes(called)) return FACTS.name;
  if (TYPE_FIELDS.includes(called)) return FACTS.mimeType;
  return SIZE_FIELDS.includes(called) && keywords['type'] !== 'string' ? FACTS.size : undefined;
}

/** Picks the value for `type: { const: "file" }` or `encoding: { enum: ["utf8", "base64"] }`. */
function constantOf({ const: constant, enum: choices }: Keywords) {
  const values = Array.isArray(choices) ? choices : [constant];
  const chosen = values.length === 1 ? values[0] : values.find((value) => value === 'base64');
  return chosen === undefined ? undefined : fact(() => chosen);
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
    name: splitWords(name),
    about: description.slice(0, MAX_DESCRIPTION_CHARS),
  };
}

/** `inputFile`, `input_file`, `input-file` and `INPUT_FILE` become `input file`; `base64` is one word. */
function splitWords(name: string): string {
  return name
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, ' ')
    .trim();
}

// The last word counts most: `data_path` is a path, `path_data` is data.
const BYTES_NAME = /\b(?:base64|b64)\b|\b(?:bytes|blobs?)$/;
const PATH_NAME = /\b(?:paths?|(?:file|filename|filepath)s?|pathname|file name)$/;
const URL_NAME = /\b(?:ur[li]s?|href)$/;
const DATA_NAME = /\b(?:data|contents?)$/;

const DATA_URL = /\bdata:?[ -]?ur[li]s?\b|\bdata:[a-z*]+\/|\bdata:.{0,20};base64/i;
/** Such as “base64, without the data: URL prefix”. */
const NO_DATA_URL =
  /\b(?:without|not|no|omit|strip|excluding|exclude|minus)\b[^.;]{0,30}\bdata:?[ -]?(?:ur[li]|prefix|scheme)/i;
const BASE64 = /\bbase[ -]?64\b|\bb64\b/i;
const BEGINS_WITH_PATH =
  /^\W*(?:(?:the|an?|absolute|relative|full|local|input|source|file|disk|system|optional)\W+)*(?:file)?(?:path|name of the file|filename)s?\b/i;
const PATH = /\bpaths?\b|\bfile ?paths?\b|\bfile ?names?\b/i;
const DATA = /\bdata\b|\bbytes\b|\bblobs?\b|\bcontents?\b/i;

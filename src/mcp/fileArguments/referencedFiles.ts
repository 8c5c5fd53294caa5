import { groupBy } from '../../base/collections.ts';
import { messageOf } from '../../base/errors.ts';
import { field, isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type {
  FileArguments,
  FileReference,
  FileSource,
  FoundFile,
  PreparedArguments,
  ResolvedArguments,
} from '../../ports/document.ts';
import type { ToolCall } from '../../ports/tools.ts';
import { childSchema, type Keywords, type PathStep, SchemaWalk } from '../schema/walk.ts';
import { type ArgumentPlace, type FileForm, inferForm } from './form.ts';
import { parseReference } from './reference.ts';

/** The whole call becomes one JavaScript string, which cannot contain more base64. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** Replaces the file references in the arguments of a call by the form that the tool's schema expects. */
export class ReferencedFiles implements FileArguments {
  readonly #source: FileSource;

  constructor(source: FileSource) {
    this.#source = source;
  }

  async prepare(args: ToolCall['arguments'], inputSchema: unknown): Promise<PreparedArguments> {
    const plan = planFileArguments(args, inputSchema);
    if (!plan.ok) return plan;
    const found: FoundUse[] = [];
    for (const use of plan.uses) {
      try {
        const wanted = use.form.needsBytes ? 'bytes' : 'path';
        found.push({ ...use, file: await this.#source.find(use.reference, wanted) });
      } catch (error) {
        return refusal(use, error);
      }
    }
    const total = found.reduce((sum, { form, file }) => sum + (form.needsBytes ? file.size : 0), 0);
    if (total > MAX_TOTAL_BYTES) return { ok: false, message: tooMuch(total) };
    const files = new Map(found.map(({ text, file }) => [file.path, { name: text, bytes: file.size }]));
    const contents = new Set(found.flatMap(({ form, file }) => (form.needsBytes ? [file.path] : [])));
    return {
      ok: true,
      notes: found.map(describeUse),
      files: [...files.values()],
      given: [...files].map(([path, { bytes }]) => ({ path, bytes, isContent: contents.has(path) })),
      resolve: (signal) => readAll(args, found, signal),
    };
  }
}

interface FoundUse extends FileUse {
  readonly file: FoundFile;
}

async function readAll(
  args: ToolCall['arguments'],
  uses: readonly FoundUse[],
  signal: AbortSignal | undefined,
): Promise<ResolvedArguments> {
  // A file that is referenced twice is read once.
  const contents = new Map<string, string>();
  const values: Replacement[] = [];
  for (const use of uses) {
    const { steps, form, file } = use;
    try {
      const base64 = form.needsBytes ? (contents.get(file.path) ?? (await file.read(signal))) : '';
      if (form.needsBytes) contents.set(file.path, base64);
      values.push({ steps, value: form.render({ ...file, base64 }) });
    } catch (error) {
      signal?.throwIfAborted();
      return refusal(use, error);
    }
  }
  const filled = fill(args, values);
  return { ok: true, arguments: isObject(filled) ? filled : args };
}

/** One line with invisible characters shown, because file names may contain anything. */
function describeUse({ where, text, form, file }: FoundUse): string {
  const line = `${where}: ${text} → ${form.description} of ${file.path} (${describeSize(file.size)}, ${file.mimeType})`;
  return showInvisible(line).replaceAll('\n', '⟦U+000A⟧');
}

function refusal({ text, where }: FileUse, error: unknown): { readonly ok: false; readonly message: string } {
  return { ok: false, message: describeRefusal(text, where, messageOf(error)) };
}

function tooMuch(bytes: number): string {
  return `The files in the arguments total ${describeSize(bytes)}, but one call can send at most ${describeSize(MAX_TOTAL_BYTES)}. No tool was called.`;
}

interface FileUse {
  /** Its path, such as `files[0].data`. */
  readonly where: string;
  readonly steps: readonly PathStep[];
  readonly text: string;
  readonly reference: FileReference;
  readonly form: FileForm;
}

/** References that are nested deeper are ignored. */
const MAX_DEPTH = 32;
const MAX_USES = 1000;
const MAX_SHOWN_CHARS = 200;

/** Finds the file references by walking the arguments together with their schema. Never throws. */
export function planFileArguments(
  args: Readonly<Record<string, unknown>>,
  inputSchema: unknown,
):
  | { readonly ok: true; readonly uses: readonly FileUse[] }
  | { readonly ok: false; readonly message: string } {
  const uses: FileUse[] = [];
  const root = { name: '', schema: inputSchema, walk: new SchemaWalk(inputSchema) };
  const message = walk({ value: args, place: root, steps: [] }, uses);
  if (message !== undefined) return { ok: false, message };
  if (uses.length <= MAX_USES) return { ok: true, uses };
  return { ok: false, message: `The arguments refer to more than ${MAX_USES} files. No tool was called.` };
}

/** Whether the argument expects one file or several, so that a file dialog can be offered. */
export function expectedFiles(inputSchema: unknown, name: string): 'one' | 'many' | undefined {
  const walk = new SchemaWalk(inputSchema);
  const { keywords } = walk.flatten(inputSchema);
  const schema = field(keywords['properties'], name);
  const inferred = schema === undefined ? undefined : inferForm({ name, schema, walk }, 'file');
  if (!inferred?.explicit) return undefined;
  return inferred.form.kind === 'list' ? 'many' : 'one';
}

interface Visit {
  readonly value: unknown;
  readonly place: ArgumentPlace;
  readonly steps: readonly PathStep[];
}

/** Returns the error message for the first invalid reference. */
function walk(visit: Visit, uses: FileUse[]): string | undefined {
  if (typeof visit.value === 'string') return visitText(visit.value, visit, uses);
  if (visit.steps.length >= MAX_DEPTH || uses.length > MAX_USES) return undefined;
  for (const inner of innerVisits(visit)) {
    const message = walk(inner, uses);
    if (message !== undefined) return message;
  }
  return undefined;
}

function visitText(text: string, { place, steps }: Visit, uses: FileUse[]): string | undefined {
  // Fast path: most strings are not references.
  if (!/^(?:asset|file):/.test(text)) return undefined;
  const read = parseReference(text, inferForm(place, 'file')?.explicit);
  const where = describeSteps(steps);
  if (read.kind === 'text') return undefined;
  if (read.kind === 'refused') return describeRefusal(text, where, read.reason);
  const inferred = inferForm(place, read.reference.kind);
  if (inferred) {
    uses.push({ where, steps, text, reference: read.reference, form: inferred.form });
    return undefined;
  }
  return isAmongChoices(text, place)
    ? undefined
    : describeRefusal(text, where, place.walk.isSpent ? TOO_LARGE : 'the tool does not accept a file there');
}

const TOO_LARGE = 'the schema of the tool is too large to find out in which form';

function describeRefusal(text: string, where: string, reason: string): string {
  const shown = text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}…`;
  return `The file “${shown}” in the argument ${where} was not used: ${reason}. No tool was called.`;
}

function isAmongChoices(text: string, { schema, walk }: ArgumentPlace): boolean {
  const { enum: choices, const: constant } = walk.flatten(schema).keywords;
  return constant === text || (Array.isArray(choices) && choices.includes(text));
}

function innerVisits({ value, place, steps }: Visit): readonly Visit[] {
  if (Array.isArray(value)) {
    const keywords = choose(place, 'array');
    const description = describe(keywords, place);
    return value.map((item: unknown, index) => ({
      value: item,
      place: { name: place.name, schema: childSchema(keywords, index), walk: place.walk, ...description },
      steps: [...steps, index],
    }));
  }
  if (!isObject(value)) return [];
  const keywords = choose(place, 'object');
  return Object.entries(value).map(([name, item]) => ({
    value: item,
    place: { name, schema: childSchema(keywords, name), walk: place.walk },
    steps: [...steps, name],
  }));
}

/** The schema for a value of this type; of a union, the matching member. */
function choose({ schema, walk }: ArgumentPlace, type: 'array' | 'object'): Keywords {
  const { keywords } = walk.flatten(schema);
  const key = type === 'array' ? 'items' : 'properties';
  const matches = (member: Keywords) => [member['type']].flat().includes(type) || member[key] !== undefined;
  return walk.alternatives(keywords)?.find(matches) ?? keywords;
}

/** Items without a description inherit that of their list. */
function describe(keywords: Keywords, { description }: ArgumentPlace): { readonly description?: string } {
  const own = keywords['description'];
  const inherited = typeof own === 'string' ? own : description;
  return inherited === undefined ? {} : { description: inherited };
}

function describeSteps(steps: readonly PathStep[]): string {
  return steps.reduce<string>(
    (where, step) =>
      typeof step === 'number' ? `${where}[${step}]` : where === '' ? step : `${where}.${step}`,
    '',
  );
}

type Replacement = { readonly steps: readonly PathStep[]; readonly value: unknown };

function fill(value: unknown, replacements: readonly Replacement[], depth = 0): unknown {
  const here = replacements.find(({ steps }) => steps.length === depth);
  if (here) return here.value;
  if (replacements.length === 0) return value;
  // Grouped once: a list may have thousands of items, and a thousand of them files.
  const below = groupBy(replacements, ({ steps }) => steps[depth]);
  const fillAt = (step: PathStep, item: unknown) => fill(item, below.get(step) ?? [], depth + 1);
  if (Array.isArray(value)) return value.map((item: unknown, index) => fillAt(index, item));
  if (!isObject(value)) return value;
  // `fromEntries` also creates an own property for "__proto__".
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, fillAt(name, item)]));
}

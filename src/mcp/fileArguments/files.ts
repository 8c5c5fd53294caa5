import { pathToFileURL } from 'node:url';
import { messageOf } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import type {
  FileArguments,
  FileSource,
  FoundFile,
  PreparedArguments,
  ResolvedArguments,
} from '../../ports/document.ts';
import type { ToolCall } from '../../ports/tools.ts';
import type { FileForm, FormField, StringForm } from './form.ts';
import { describeRefusal, type FileUse, fillFileArguments, planFileArguments } from './plan.ts';

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
        const wanted = needsBytes(use.form) ? 'bytes' : 'path';
        found.push({ ...use, file: await this.#source.find(use.reference, wanted) });
      } catch (error) {
        return refusal(use, error);
      }
    }
    const total = found.reduce((sum, { form, file }) => sum + (needsBytes(form) ? file.size : 0), 0);
    if (total > MAX_TOTAL_BYTES) return { ok: false, message: tooMuch(total) };
    return { ok: true, notes: found.map(describeUse), resolve: (signal) => readAll(args, found, signal) };
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
  const values: { readonly steps: FileUse['steps']; readonly value: unknown }[] = [];
  for (const use of uses) {
    const { steps, form, file } = use;
    try {
      const base64 = needsBytes(form) ? (contents.get(file.path) ?? (await file.read(signal))) : '';
      if (needsBytes(form)) contents.set(file.path, base64);
      values.push({ steps, value: fileValue(form, { ...file, base64 }) });
    } catch (error) {
      signal?.throwIfAborted();
      return refusal(use, error);
    }
  }
  return { ok: true, arguments: fillFileArguments(args, values) };
}

/** One line with invisible characters shown, because file names may contain anything. */
function describeUse({ where, text, form, file }: FoundUse): string {
  const line = `${where}: ${text} → ${describeForm(form)} of ${file.path} (${describeSize(file.size)}, ${file.mimeType})`;
  return showInvisible(line).replaceAll('\n', '⟦U+000A⟧');
}

function refusal({ text, where }: FileUse, error: unknown): { readonly ok: false; readonly message: string } {
  return { ok: false, message: describeRefusal(text, where, messageOf(error)) };
}

function tooMuch(bytes: number): string {
  return `The files in the arguments total ${describeSize(bytes)}, but one call can send at most ${describeSize(MAX_TOTAL_BYTES)}. Nothing was called.`;
}

/** `base64` is empty when only the path is needed. */
type LoadedFile = Omit<FoundFile, 'read'> & { readonly base64: string };

function needsBytes(form: FileForm): boolean {
  switch (form.kind) {
    case 'list':
      return needsBytes(form.of);
    case 'object':
      return form.fields.some(({ value }) => carriesBytes(value.kind));
    default:
      return carriesBytes(form.kind);
  }
}

function fileValue(form: FileForm, file: LoadedFile): unknown {
  switch (form.kind) {
    case 'list':
      return [fileValue(form.of, file)];
    case 'object':
      return Object.fromEntries(form.fields.map(({ name, value }) => [name, fieldValue(value, file)]));
    default:
      return stringValue(form.kind, file);
  }
}

const FORM_NAMES: Readonly<Record<StringForm['kind'], string>> = {
  base64: 'base64',
  base64url: 'base64url',
  dataUrl: 'a data: URL',
  path: 'the path',
  fileUrl: 'the file: URL',
};

function describeForm(form: FileForm): string {
  switch (form.kind) {
    case 'list':
      return `a list with ${describeForm(form.of)}`;
    case 'object':
      return `an object (${form.fields.map(({ name }) => name).join(', ')}) with ${needsBytes(form) ? 'the bytes' : 'the path'}`;
    default:
      return FORM_NAMES[form.kind];
  }
}

function carriesBytes(kind: FormField['value']['kind']): boolean {
  return kind === 'base64' || kind === 'base64url' || kind === 'dataUrl';
}

function fieldValue(value: FormField['value'], file: LoadedFile): unknown {
  switch (value.kind) {
    case 'name':
      return file.name;
    case 'mimeType':
      return file.mimeType;
    case 'size':
      return file.size;
    case 'constant':
      return value.constant;
    default:
      return stringValue(value.kind, file);
  }
}

function stringValue(kind: StringForm['kind'], { path, mimeType, base64 }: LoadedFile): string {
  switch (kind) {
    case 'base64':
      return base64;
    case 'base64url':
      return base64.replace(/[+/=]/g, (char) => (char === '+' ? '-' : char === '/' ? '_' : ''));
    case 'dataUrl':
      return `data:${mimeType};base64,${base64}`;
    case 'path':
      return path;
    case 'fileUrl':
      return pathToFileURL(path).href;
  }
}

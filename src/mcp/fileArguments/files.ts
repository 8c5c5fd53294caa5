import { showInvisible } from '../../chat/format/escape.ts';
import type {
  FileArguments,
  FileSource,
  FoundFile,
  PreparedArguments,
  ResolvedArguments,
  ToolCall,
} from '../../ports.ts';
import { type FileUse, fillFileArguments, planFileArguments, refuse } from './plan.ts';
import { describeForm, fileValue, needsBytes } from './value.ts';

/** Base64 of more does not fit into one string of JavaScript, and the whole call becomes one string. */
const MAX_TOTAL_BYTES = 256 * 1024 * 1024;

/** The way back: what the arguments of a call refer to becomes what the tool's schema asks for. */
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
  // A file that is named twice is read once.
  const contents = new Map<string, string>();
  const values: { readonly steps: FileUse['steps']; readonly value: unknown }[] = [];
  for (const use of uses) {
    const { steps, form, file } = use;
    try {
      const base64 = needsBytes(form) ? (contents.get(file.path) ?? (await file.read(signal))) : '';
      if (needsBytes(form)) contents.set(file.path, base64);
      values.push({ steps, value: fileValue(form, { ...describeFile(file), base64 }) });
    } catch (error) {
      signal?.throwIfAborted();
      return refusal(use, error);
    }
  }
  return { ok: true, arguments: fillFileArguments(args, values) };
}

function describeFile({ name, path, size, mimeType }: FoundFile) {
  return { name, path, size, mimeType };
}

/** Names of files may hold anything; here each is one line in which nothing hides. */
function describeUse({ where, text, form, file }: FoundUse): string {
  const line = `${where}: ${text} → ${describeForm(form)} of ${file.path} (${describeSize(file.size)}, ${file.mimeType})`;
  return showInvisible(line).replaceAll('\n', '⟦U+000A⟧');
}

function refusal({ text, where }: FileUse, error: unknown): { readonly ok: false; readonly message: string } {
  const reason = error instanceof Error ? error.message : String(error);
  return { ok: false, message: refuse(text, where, reason) };
}

function tooMuch(bytes: number): string {
  return `The files in the arguments have ${describeSize(bytes)} together, and one call takes ${describeSize(MAX_TOTAL_BYTES)}. Nothing was called.`;
}

const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

function describeSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(bytes, 1)) / 10));
  return `${power === 0 ? bytes : (bytes / 1024 ** power).toFixed(1)} ${UNITS[power]}`;
}

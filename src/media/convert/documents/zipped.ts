import { strFromU8, strToU8, unzipSync, zipSync } from 'fflate';
import { visibleLine } from '../../../base/lines.ts';
import { describeSize } from '../../../base/size.ts';
import { ConversionError, type DocumentJob, type DocumentText } from '../job.ts';

interface ZippedFile {
  readonly name: string;
  readonly bytes: number;
}

const MAX_LISTED = 2000;
/** A document of 0.5 MB that inflates to 400 MB costs every reader 1 GB. */
const MAX_INFLATED_BYTES = 100_000_000;
const MAX_FILES = 10_000;

/** Lists the files in a ZIP. Nothing is inflated. */
export function listZip({ bytes }: DocumentJob): DocumentText {
  const files = zippedFiles(bytes).filter(({ name }) => !name.endsWith('/'));
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  const lines = files
    .slice(0, MAX_LISTED)
    .map((file) => `- ${visibleLine(file.name)} (${describeSize(file.bytes)})`);
  const count = files.length === 1 ? '1 file' : `${files.length} files`;
  const head = `${count}, ${describeSize(total)} uncompressed:`;
  return { sections: [{ text: [head, ...lines].join('\n') }], isCut: files.length > MAX_LISTED };
}

/** The names of the files in an archive. Throws for one that would take too much memory. */
export function checkInflated(bytes: Uint8Array): readonly string[] {
  const files = zippedFiles(bytes);
  const total = files.reduce((sum, file) => sum + file.bytes, 0);
  if (total > MAX_INFLATED_BYTES) {
    throw new ConversionError(
      `it would inflate to ${describeSize(total)}, and at most ${describeSize(MAX_INFLATED_BYTES)} are read`,
    );
  }
  if (files.length > MAX_FILES)
    throw new ConversionError(`it consists of ${files.length} files, and at most ${MAX_FILES} are read`);
  return files.map(({ name }) => name);
}

/** Changes some of the files in a document. */
export function withPart(bytes: Uint8Array, names: RegExp, change: (xml: string) => string): Uint8Array {
  const files = unzipSync(bytes);
  const changed = Object.entries(files).flatMap(([name, content]) => {
    if (!names.test(name)) return [];
    const xml = strFromU8(content);
    const other = change(xml);
    return other === xml ? [] : [[name, strToU8(other)] as const];
  });
  return changed.length === 0 ? bytes : zipSync({ ...files, ...Object.fromEntries(changed) }, { level: 0 });
}

function zippedFiles(bytes: Uint8Array): readonly ZippedFile[] {
  const files: ZippedFile[] = [];
  unzipSync(bytes, {
    filter: ({ name, originalSize }) => {
      files.push({ name: asUtf8(name), bytes: originalSize });
      return false;
    },
  });
  return files;
}

/** Some programs write UTF-8 names without setting the flag; then each character is one byte. */
function asUtf8(name: string): string {
  if (!/^[\0-\xff]*$/.test(name)) return name;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(name, 'latin1'));
  } catch {
    return name;
  }
}

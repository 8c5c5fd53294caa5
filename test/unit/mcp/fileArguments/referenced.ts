import { ReferencedFiles } from '../../../../src/mcp/fileArguments/referencedFiles.ts';
import type { FileReference, FileSource } from '../../../../src/ports/document.ts';

export const NAME = 'tool-file-20261116-093012-V1StGXR8a0-1.pdf';
export const ASSET = `asset:${NAME}`;

/** Every file holds three bytes, `abc`. */
export const SOURCE: FileSource = {
  find: async (reference: FileReference) => ({
    name: reference.kind === 'asset' ? reference.name : (reference.path.split('/').at(-1) ?? ''),
    path: `/real/${reference.kind === 'asset' ? reference.name : reference.path}`,
    size: 3,
    mimeType: 'application/pdf',
    read: async () => 'YWJj',
  }),
};

export async function resolve(args: Readonly<Record<string, unknown>>, schema: unknown): Promise<unknown> {
  const prepared = await new ReferencedFiles(SOURCE).prepare(args, schema);
  if (!prepared.ok) return prepared.message;
  const resolved = await prepared.resolve();
  return resolved.ok ? resolved.arguments : resolved.message;
}

export const taking = (name: string, schema: unknown, rest: object = {}) => ({
  type: 'object',
  properties: { [name]: schema },
  ...rest,
});

export const BASE64 = 'YWJj';
export const PATH = `/real/${NAME}`;

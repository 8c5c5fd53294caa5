import { readFileSync } from 'node:fs';
import { modelTools } from '../../../../src/model/request/modelTools.ts';
import { buildRequest, type RequestSources } from '../../../../src/model/request/request.ts';
import type { AttachedFile, AttachmentSource } from '../../../../src/ports/document.ts';
import type { ContentPart, ModelMessage, ModelRequest } from '../../../../src/ports/models.ts';

export interface MemoryFile {
  readonly bytes: string | Uint8Array;
  readonly mimeType?: string;
  /** If it differs from the type of the bytes. */
  readonly size?: number;
  readonly isFolder?: boolean;
  /** False for text in another encoding than UTF-8. */
  readonly isText?: boolean;
}

/** Files in memory that count how often they are read. */
export class MemoryAttachments implements AttachmentSource {
  readonly reads = new Map<string, number>();
  readonly #files: ReadonlyMap<string, MemoryFile>;

  constructor(files: Readonly<Record<string, MemoryFile>> = {}) {
    this.#files = new Map(Object.entries(files));
  }

  async find(target: string): Promise<AttachedFile> {
    const file = this.#files.get(target);
    if (!file) throw new Error('there is no such file');
    const { bytes: given, mimeType = 'text/plain', isFolder = false } = file;
    const bytes = typeof given === 'string' ? new TextEncoder().encode(given) : given;
    return {
      name: target.slice(target.lastIndexOf('/') + 1),
      size: file.size ?? bytes.length,
      mimeType,
      isText: file.isText ?? mimeType.startsWith('text/'),
      isFolder,
      read: async () => {
        this.reads.set(target, (this.reads.get(target) ?? 0) + 1);
        return bytes;
      },
    };
  }
}

export const TOOLS = modelTools(
  ['bar', 'line'].map((tool) => ({ server: 'charts', tool, inputSchema: { type: 'object' } })),
);

export function build(text: string, more: Partial<RequestSources> = {}) {
  return buildRequest(text, {
    model: { name: 'm', accepts: (type) => /^image\/|^application\/pdf$/.test(type) },
    tools: TOOLS,
    attachments: new MemoryAttachments(),
    ...more,
  });
}

/** The messages as text: a line for each part, indented below its role. */
export async function show(text: string, more?: Partial<RequestSources>): Promise<string> {
  return showMessages((await build(text, more)).request);
}

export function showMessages({ messages }: Pick<ModelRequest, 'messages'>): string {
  return messages
    .flatMap((message) => [message.role, ...partsOf(message).map((line) => `  ${line}`)])
    .join('\n');
}

function partsOf(message: ModelMessage): readonly string[] {
  switch (message.role) {
    case 'user':
      return message.parts.map(showPart);
    case 'assistant':
      return message.parts.map((part) => {
        const metadata = part.metadata ? ` ${JSON.stringify(part.metadata)}` : '';
        if (part.kind === 'file') return `${showPart(part)}${metadata}`;
        if (part.kind !== 'call') return `${part.kind}: ${oneLine(part.text)}${metadata}`;
        return `call ${part.id} ${part.name} ${JSON.stringify(part.arguments)}${metadata}`;
      });
    case 'tool':
      return message.results.flatMap(({ id, name, isError, parts }) => [
        `result ${id} ${name}${isError ? ' (error)' : ''}`,
        ...parts.map((part) => `  ${showPart(part)}`),
      ]);
  }
}

function showPart(part: ContentPart): string {
  return part.kind === 'text' ? oneLine(part.text) : `<${part.mimeType} ${part.name}>`;
}

function oneLine(text: string): string {
  return text.replaceAll('\n', '↵');
}

/** The cases of `messages.txt`. */
export const CASES = readFileSync(new URL('messages.txt', import.meta.url), 'utf8')
  .split(/^=== /m)
  .slice(1)
  .map((each) => {
    const [, rule = '', text = '', expected = ''] = /^(.*)\n([\s\S]*?)^=>\n([\s\S]*)$/m.exec(each) ?? [];
    return { rule, text, expected: expected.trimEnd() };
  });

/** A fence with a call of `charts.bar`. */
export const call = (id: string, args = '{"x":1}', tool = 'charts.bar') =>
  `\n\`\`\`tool_call ${tool} ${id}\n${args}\n\`\`\`\n`;

import { messageOf } from '../../base/errors.ts';
import { trimBlankLines } from '../../base/lines.ts';
import { describeSize } from '../../base/size.ts';
import { renderToolName, type WrittenCall } from '../../chat/format/calls.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { withoutComments } from '../../chat/format/comments.ts';
import { unescapeMarkers } from '../../chat/format/escape.ts';
import { localLinks } from '../../chat/format/links.ts';
import { turnBody } from '../../chat/format/parse.ts';
import type { AttachedFile, AttachmentSource } from '../../ports/files.ts';
import type { ChatModel, ContentPart } from '../../ports/models.ts';

import { assetReference, MAX_IMAGE_BYTES } from '../../result/modelView.ts';
import { summarize } from '../../result/summary.ts';
import type { ViewedResult } from './resultParts.ts';
import { readOnce } from './resultParts.ts';
import { stripTags } from './tools.ts';

/** Some 100,000 tokens: more of one file fills most models on its own. */
export const MAX_ATTACHED_CHARS = 400_000;
/** As base64 some 27 MB; the strictest provider takes 32 MB in all. */
const MAX_DOCUMENT_BYTES = 20_000_000;
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** A link of a user's turn, and the line of the chat that it stands on. */
interface AttachedLink {
  readonly target: string;
  /** Where it stands in the chat. */
  readonly start: number;
  readonly end: number;
  line(): number;
}

/** What became of a link. */
export interface Attachment {
  readonly link: AttachedLink;
  readonly part: ContentPart;
}

export interface AttachedPartsOptions {
  readonly source: AttachmentSource;
  readonly model: Pick<ChatModel, 'name' | 'accepts'>;
  /** What the user should know is added here. */
  readonly notes: string[];
  readonly isOwnAsset: (path: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** What a model gets of the files that the turns of one request link to. Each file is sent and read once. */
export class AttachedParts {
  readonly #options: AttachedPartsOptions;
  readonly #sent = new Set<string>();

  constructor(options: AttachedPartsOptions) {
    this.#options = options;
  }

  /** A file that cannot be had is an error where the user has just named it; later it is a line for the model. */
  async read(links: readonly AttachedLink[], isLastTurn: boolean): Promise<readonly Attachment[]> {
    const parts: Attachment[] = [];
    const targets = new Set<string>();
    for (const link of links) {
      if (targets.has(link.target)) continue;
      targets.add(link.target);
      parts.push({ link, part: await this.#readLink(link, isLastTurn) });
    }
    return parts;
  }

  async #readLink({ target, line }: AttachedLink, isLastTurn: boolean): Promise<ContentPart> {
    const { source, signal } = this.#options;
    signal?.throwIfAborted();
    if (this.#sent.has(target)) return text(`[The file ${target} is the one above.]`);
    try {
      const part = await this.#view(target, await source.find(target));
      this.#sent.add(target);
      return part;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = messageOf(error);
      if (isLastTurn) {
        throw new Error(
          `Line ${line()}: “${target}” cannot be sent: ${reason}. Correct the link, or write it as code.`,
          { cause: error },
        );
      }
      return text(`[The file ${target} is not here: ${reason}.]`);
    }
  }

  async #view(target: string, file: AttachedFile): Promise<ContentPart> {
    if (file.isText) return this.#viewText(target, file);
    const problem = whyNotSent(file, this.#options.model);
    const { name, mimeType, size } = file;
    if (problem === undefined) return { kind: 'file', name, mimeType, size, read: readOnce(file) };
    this.#options.notes.push(`“${target}” is only named to the model: ${problem}.`);
    return text(summarizeFile(target, file, this.#options.isOwnAsset(target)));
  }

  async #viewText(target: string, file: AttachedFile): Promise<ContentPart> {
    const bytes = await file.read(this.#options.signal);
    const content = stripTags(new TextDecoder().decode(bytes));
    const head = `File ${target}:\n`;
    if (content.length <= MAX_ATTACHED_CHARS) return text(`${head}${content}`);
    const shown = `${MAX_ATTACHED_CHARS} of its ${content.length} characters`;
    this.#options.notes.push(`Of “${target}” the model gets the first ${shown}.`);
    return text(
      `${head}${content.slice(0, MAX_ATTACHED_CHARS).toWellFormed()}\n[Cut: these are the first ${shown}.]`,
    );
  }
}

/** Why a file that is no text is only named to a model. */
export function whyNotSent(
  { mimeType, size }: Pick<AttachedFile, 'mimeType' | 'size'>,
  model: Pick<ChatModel, 'name' | 'accepts'>,
): string | undefined {
  const isImage = IMAGE_TYPES.has(mimeType);
  const isKnown = isImage || mimeType === 'application/pdf' || mimeType.startsWith('audio/');
  const maxBytes = isImage ? MAX_IMAGE_BYTES : MAX_DOCUMENT_BYTES;
  if (!isKnown || !model.accepts(mimeType)) return `${model.name} takes no ${mimeType}`;
  if (size === 0) return 'it is empty';
  return size > maxBytes
    ? `it has ${describeSize(size)}, and at most ${describeSize(maxBytes)} are sent`
    : undefined;
}

function summarizeFile(target: string, { name, size, mimeType }: AttachedFile, isOwn: boolean): string {
  const kind = /^(?:image|audio)(?=\/)/.exec(mimeType)?.[0] ?? 'file';
  const ref = isOwn ? assetReference(target) : `file:${target.replace(/[%\s]/gu, encodeURIComponent)}`;
  return summarize({ kind, name, type: mimeType, size: describeSize(size), ref });
}

function text(value: string): ContentPart {
  return { kind: 'text', text: value };
}

/** What a user wrote, without the comments; nothing when that is nothing. */
export function textParts(written: string): readonly ContentPart[] {
  const plain = unescapeMarkers(trimBlankLines(withoutComments(written)));
  return plain.trim() === '' ? [] : [text(plain)];
}

/** A call that the user wrote and ran; its result follows. Providers know no calls of users, so it is told in words. */
export function calledText(call: WrittenCall, result: ViewedResult | undefined): ContentPart {
  const called = `I called the tool ${renderToolName(call)} with these arguments:\n${call.argumentsText.trim() || '{}'}`;
  if (!result) return text(`${called}\nThere is no result of it.`);
  return text(`${called}\nIt returned${result.isError ? ' an error' : ''}:`);
}

/** The local files that a turn links to, outside comments and code. */
export function attachedLinks(chatText: string, turn: Turn): readonly AttachedLink[] {
  return localLinks(turnBody(chatText, turn)).map(({ target, offset, end }) => ({
    target,
    start: turn.bodyStart + offset,
    end: turn.bodyStart + end,
    // Counted when somebody asks: in a long chat it takes time.
    line: () => lineOf(chatText, turn.bodyStart + offset),
  }));
}

function lineOf(chatText: string, offset: number): number {
  return chatText.slice(0, offset).split('\n').length;
}

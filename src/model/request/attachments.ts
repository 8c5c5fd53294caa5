import { messageOf } from '../../base/errors.ts';
import { trimBlankLines } from '../../base/lines.ts';
import { describeSize } from '../../base/size.ts';
import { renderToolName, type WrittenCall } from '../../chat/format/calls.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { withoutComments } from '../../chat/format/comments.ts';
import { unescapeMarkers } from '../../chat/format/escape.ts';
import { localLinks } from '../../chat/format/links.ts';
import { turnBody } from '../../chat/format/parse.ts';
import type { AttachedFile, AttachmentSource } from '../../ports/document.ts';
import type { ChatModel, ContentPart } from '../../ports/models.ts';
import { assetReference, MAX_IMAGE_BYTES, summarize } from '../../result/modelView.ts';
import { textPart } from './messages.ts';
import { readOnce, type ViewedResult } from './resultParts.ts';
import { stripTags } from './tools.ts';

/** About 100,000 tokens. */
const MAX_ATTACHED_CHARS = 400_000;
/** About 27 MB as base64; the strictest provider accepts requests of 32 MB. */
const MAX_DOCUMENT_BYTES = 20_000_000;
const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

interface AttachedLink {
  readonly target: string;
  /** Offsets in the chat. */
  readonly start: number;
  readonly end: number;
}

export interface Attachment {
  readonly link: AttachedLink;
  readonly part: ContentPart;
}

interface AttachedPartsOptions {
  readonly text: string;
  readonly source: AttachmentSource;
  readonly model: Pick<ChatModel, 'name' | 'accepts'>;
  /** Notes for the user are added here. */
  readonly notes: string[];
  readonly isOwnAsset: (path: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The files that the turns of one request link to. Each file is sent once. */
export class AttachedParts {
  readonly #options: AttachedPartsOptions;
  readonly #sent = new Set<string>();

  constructor(options: AttachedPartsOptions) {
    this.#options = options;
  }

  /** A missing file is an error in the last turn; in earlier turns the model is told about it. */
  async read(turn: Turn, isLastTurn: boolean): Promise<readonly Attachment[]> {
    const parts: Attachment[] = [];
    const targets = new Set<string>();
    for (const link of attachedLinks(this.#options.text, turn)) {
      if (targets.has(link.target)) continue;
      targets.add(link.target);
      parts.push({ link, part: await this.#readLink(link, isLastTurn) });
    }
    return parts;
  }

  async #readLink({ target, start }: AttachedLink, isLastTurn: boolean): Promise<ContentPart> {
    const { source, signal } = this.#options;
    signal?.throwIfAborted();
    if (this.#sent.has(target)) return textPart(`[The file ${target} is the one above.]`);
    try {
      const part = await this.#view(target, await source.find(target));
      this.#sent.add(target);
      return part;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = messageOf(error);
      if (!isLastTurn) return textPart(`[The file ${target} is not here: ${reason}.]`);
      const line = this.#options.text.slice(0, start).split('\n').length;
      throw new Error(
        `Line ${line}: “${target}” cannot be sent: ${reason}. Correct the link, or write it as code.`,
        { cause: error },
      );
    }
  }

  async #view(target: string, file: AttachedFile): Promise<ContentPart> {
    if (file.isText) return this.#viewText(target, file);
    const problem = whyNotSent(file, this.#options.model);
    const { name, mimeType, size } = file;
    if (problem === undefined) return { kind: 'file', name, mimeType, size, read: readOnce(file) };
    this.#options.notes.push(`Only the name of “${target}” is sent to the model: ${problem}.`);
    return textPart(summarizeFile(target, file, this.#options.isOwnAsset(target)));
  }

  async #viewText(target: string, file: AttachedFile): Promise<ContentPart> {
    const bytes = await file.read(this.#options.signal);
    const content = stripTags(new TextDecoder().decode(bytes));
    const head = `File ${target}:\n`;
    if (content.length <= MAX_ATTACHED_CHARS) return textPart(`${head}${content}`);
    const shown = `${MAX_ATTACHED_CHARS} of its ${content.length} characters`;
    this.#options.notes.push(`Of “${target}” the model gets the first ${shown}.`);
    const cut = content.slice(0, MAX_ATTACHED_CHARS).toWellFormed();
    return textPart(`${head}${cut}\n[Cut: these are the first ${shown}.]`);
  }
}

/** Why the model gets only the name of a binary file. */
export function whyNotSent(
  { mimeType, size }: Pick<AttachedFile, 'mimeType' | 'size'>,
  model: Pick<ChatModel, 'name' | 'accepts'>,
): string | undefined {
  const isImage = IMAGE_TYPES.has(mimeType);
  const isKnown = isImage || mimeType === 'application/pdf' || mimeType.startsWith('audio/');
  const maxBytes = isImage ? MAX_IMAGE_BYTES : MAX_DOCUMENT_BYTES;
  if (!isKnown || !model.accepts(mimeType)) return `${model.name} does not accept ${mimeType}`;
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

/** The user's text without comments. */
export function textParts(written: string): readonly ContentPart[] {
  const plain = unescapeMarkers(trimBlankLines(withoutComments(written)));
  return plain.trim() === '' ? [] : [textPart(plain)];
}

/** A call by the user, before its result. Providers have no such calls, so it is sent as text. */
export function calledText(call: WrittenCall, result: ViewedResult | undefined): ContentPart {
  const called = `I called the tool ${renderToolName(call)} with these arguments:\n${call.argumentsText.trim() || '{}'}`;
  if (!result) return textPart(`${called}\nThere is no result of it.`);
  return textPart(`${called}\nIt returned${result.isError ? ' an error' : ''}:`);
}

/** The links to local files in a turn, outside comments and code. */
function attachedLinks(chatText: string, turn: Turn): readonly AttachedLink[] {
  return localLinks(turnBody(chatText, turn)).map(({ target, offset, end }) => ({
    target,
    start: turn.bodyStart + offset,
    end: turn.bodyStart + end,
  }));
}

import { messageOf } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { localLinks } from '../../chat/format/links.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { sharedConverter } from '../../media/convert/converter.ts';
import { renderDocument } from '../../media/convert/documentText.ts';
import type { DocumentReader } from '../../media/convert/job.ts';
import { MAX_PDF_PAGES } from '../../media/imageLimits.ts';
import type { AttachedFile, AttachmentSource } from '../../ports/document.ts';
import type { ChatModel, ContentPart } from '../../ports/models.ts';
import { assetReference, summarize } from '../../result/modelView.ts';
import { textPart } from './messages.ts';
import { sentAs } from './sentAs.ts';
import { stripTags } from './tools.ts';

/** About 100,000 tokens. */
const MAX_ATTACHED_CHARS = 400_000;
/** A hundred pages have more. */
const MIN_COUNTED_BYTES = 100_000;

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

export interface FileContext {
  /** The text of the chat. */
  readonly text: string;
  readonly attachments: AttachmentSource;
  readonly model: Pick<ChatModel, 'name' | 'accepts'>;
  readonly sendImages: 'auto' | 'always' | 'never';
  /** Whether a link leads to this chat's own assets. No other link in a tool turn is followed. */
  readonly isOwnAsset: (path: string) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/** The files that the turns of one request link to. Each file is sent once. */
export class AttachedParts {
  /** For the user. */
  readonly notes: string[] = [];
  readonly #context: FileContext;
  readonly #sent = new Set<string>();

  constructor(context: FileContext) {
    this.#context = context;
  }

  /** A missing file is an error in the last turn; in earlier turns the model is told about it. */
  async read(turn: Turn, isLastTurn: boolean): Promise<readonly Attachment[]> {
    const parts: Attachment[] = [];
    const targets = new Set<string>();
    for (const link of attachedLinks(this.#context.text, turn)) {
      if (targets.has(link.target)) continue;
      targets.add(link.target);
      parts.push({ link, part: await this.#readLink(link, isLastTurn) });
    }
    return parts;
  }

  async #readLink({ target, start }: AttachedLink, isLastTurn: boolean): Promise<ContentPart> {
    const { attachments, signal } = this.#context;
    signal?.throwIfAborted();
    if (this.#sent.has(target)) return textPart(`[The file ${target} is the one above.]`);
    try {
      const part = await this.#view(target, await attachments.find(target, signal));
      this.#sent.add(target);
      return part;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = messageOf(error);
      if (!isLastTurn) return textPart(`[The file ${target} is not here: ${reason}.]`);
      const line = this.#context.text.slice(0, start).split('\n').length;
      throw new Error(
        `Line ${line}: “${target}” cannot be sent: ${reason}. Correct the link, or write it as code.`,
        { cause: error },
      );
    }
  }

  async #view(target: string, file: AttachedFile): Promise<ContentPart> {
    const form = sentAs(file, this.#context.model);
    const { name, mimeType, size } = file;
    const read = readOnce(file);
    if (form.kind === 'text')
      return this.#viewText(target, new TextDecoder().decode(await read(this.#context.signal)));
    if (form.kind === 'named') return this.#viewName(target, file, form.reason);
    if (form.kind === 'file' && !(await this.#isLongPdf({ ...file, read })))
      return { kind: 'file', name, mimeType, size, read };
    return this.#viewDocument(target, { ...file, read }, form.kind === 'document' ? form.reader : 'pdf');
  }

  async #viewDocument(target: string, file: AttachedFile, reader: DocumentReader): Promise<ContentPart> {
    const { signal } = this.#context;
    const outcome = await sharedConverter().readDocument({ bytes: await file.read(signal), reader }, signal);
    return outcome.kind === 'failed'
      ? this.#viewName(target, file, `its text cannot be read, because ${outcome.reason}`)
      : this.#viewText(target, renderDocument(outcome.document), `Text of the file ${target}:\n`);
  }

  /** Providers refuse documents with more pages. Small files are not opened to count them. */
  async #isLongPdf({ mimeType, size, read }: AttachedFile): Promise<boolean> {
    if (mimeType !== 'application/pdf' || size < MIN_COUNTED_BYTES) return false;
    const { signal } = this.#context;
    const first = [{ first: 1, last: 1 }];
    const bytes = await read(signal);
    const outcome = await sharedConverter().readDocument({ bytes, reader: 'pdf', pages: first }, signal);
    return outcome.kind === 'document' && (outcome.document.total ?? 0) > MAX_PDF_PAGES;
  }

  #viewName(target: string, file: AttachedFile, reason: string): ContentPart {
    this.notes.push(`Only the name of “${target}” is sent to the model: ${reason}.`);
    return textPart(summarizeFile(target, file, this.#context.isOwnAsset(target)));
  }

  #viewText(target: string, text: string, head = `File ${target}:\n`): ContentPart {
    const content = stripTags(text);
    if (content.length <= MAX_ATTACHED_CHARS) return textPart(`${head}${content}`);
    const shown = `${MAX_ATTACHED_CHARS} of ${content.length} characters`;
    this.notes.push(`Only the first ${shown} of “${target}” are sent to the model.`);
    const cut = content.slice(0, MAX_ATTACHED_CHARS).toWellFormed();
    return textPart(`${head}${cut}\n[Cut: these are the first ${shown}.]`);
  }
}

function summarizeFile(target: string, { name, size, mimeType }: AttachedFile, isOwn: boolean): string {
  const kind = /^(?:image|audio)(?=\/)/.exec(mimeType)?.[0] ?? 'file';
  const ref = isOwn ? assetReference(target) : `file:${target.replace(/[%\s]/gu, encodeURIComponent)}`;
  return summarize({ kind, name, type: mimeType, size: describeSize(size), ref });
}

/** The links to local files in a turn, outside comments and code. */
function attachedLinks(chatText: string, turn: Turn): readonly AttachedLink[] {
  return localLinks(turnBody(chatText, turn)).map(({ target, start, end }) => ({
    target,
    start: turn.bodyStart + start,
    end: turn.bodyStart + end,
  }));
}

/** Keeps the bytes, so that every attempt at a request sends the same. */
export function readOnce(file: Pick<AttachedFile, 'read'>): AttachedFile['read'] {
  let bytes: Promise<Uint8Array> | undefined;
  return async (signal) => {
    bytes ??= file.read(signal);
    try {
      return await bytes;
    } catch (error) {
      bytes = undefined;
      throw error;
    }
  };
}

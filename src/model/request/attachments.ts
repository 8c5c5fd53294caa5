import { decodeOtherText } from '../../base/encodings.ts';
import { messageOf } from '../../base/errors.ts';
import { decodeUtf8 } from '../../base/lines.ts';
import { describeSize } from '../../base/size.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { describeLines, type LineRange, renderLineRange, selectLines } from '../../chat/format/lineRange.ts';
import { localLinks } from '../../chat/format/links.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { sharedConverter, unsendableReason } from '../../media/convert/converter.ts';
import { documentReader, renderDocument } from '../../media/convert/documentText.ts';
import type { DocumentReader } from '../../media/convert/job.ts';
import { isSendableImage, MAX_PDF_PAGES } from '../../media/imageLimits.ts';
import type { AttachedFile } from '../../ports/document.ts';
import type { ContentPart } from '../../ports/models.ts';
import { assetReference, summarize } from '../../result/modelView.ts';
import { textPart } from './messages.ts';
import { stripTags } from './modelTools.ts';
import { type FileContext, readOnce } from './readOnce.ts';
import { sentAs } from './sentAs.ts';

/** About 100,000 tokens. */
const MAX_ATTACHED_CHARS = 400_000;
/** A hundred pages have more. */
const MIN_COUNTED_BYTES = 100_000;
/** Where readers look for the end of a PDF. */
const PDF_END_BYTES = 1024;

interface AttachedLink {
  readonly target: string;
  /** Only these lines are sent. */
  readonly lines?: LineRange | undefined;
  /** Offsets in the chat. */
  readonly start: number;
  readonly end: number;
}

export interface Attachment extends AttachmentView {
  readonly link: AttachedLink;
}

interface AttachmentView {
  readonly part: ContentPart;
  /** How much is sent: a size or lines. Undefined if it is only named, or was sent before. */
  readonly sent?: string;
}

/** The files, folders and lines that the turns of one request link to. Each is sent once. */
export class AttachedParts {
  /** For the user. */
  readonly notes: string[] = [];
  /** For the user: the attachments of the last turn, with how much of each is sent. */
  readonly attached: string[] = [];
  readonly #context: FileContext;
  readonly #sent = new Set<string>();

  constructor(context: FileContext) {
    this.#context = context;
  }

  /** A missing file is an error in the last turn; in earlier turns the model is told about it. */
  async read(turn: Turn, isLastTurn: boolean): Promise<readonly Attachment[]> {
    const parts: Attachment[] = [];
    for (const link of attachedLinks(this.#context.text, turn)) {
      const view = await this.#readLink(link, isLastTurn);
      if (isLastTurn && view.sent) this.attached.push(`${link.target} (${view.sent})`);
      parts.push({ link, ...view });
    }
    return parts;
  }

  async #readLink(link: AttachedLink, isLastTurn: boolean): Promise<AttachmentView> {
    const { attachments, signal } = this.#context;
    const { target, lines, start } = link;
    signal?.throwIfAborted();
    const key = linkName(link);
    if (this.#sent.has(key)) return { part: textPart(`[The file ${key} is attached above.]`) };
    try {
      const file = await attachments.find(target, signal);
      const view = await (lines ? this.#viewLines(target, lines, file) : this.#view(target, file));
      this.#sent.add(key);
      return view;
    } catch (error) {
      signal?.throwIfAborted();
      const reason = messageOf(error);
      if (!isLastTurn) return { part: textPart(`[The file ${target} is not here: ${reason}.]`) };
      const line = this.#context.text.slice(0, start).split('\n').length;
      throw new Error(
        `Line ${line}: “${target}” cannot be sent: ${reason}. Correct the link, or write it as code.`,
        { cause: error },
      );
    }
  }

  async #view(target: string, file: AttachedFile): Promise<AttachmentView> {
    const { model, isEstimate, signal } = this.#context;
    const form = sentAs(file, model);
    const { name, mimeType, size } = file;
    const read = readOnce(file);
    const sent = describeSize(size);
    if (file.isFolder)
      return { part: this.#viewText(target, await readText(file, signal), folderHead(target)), sent };
    if (form.kind === 'text') {
      if (isEstimate) return { part: { kind: 'file', name, mimeType: 'text/plain', size, read }, sent };
      return { part: this.#viewText(target, await readText(file, signal)), sent };
    }
    if (form.kind === 'named') return this.#viewName(target, file, form.reason);
    const problem =
      isSendableImage(mimeType) && !isEstimate ? unsendableReason(await read(signal), mimeType) : undefined;
    if (problem !== undefined) return this.#viewName(target, file, problem);
    if (form.kind === 'file' && !(await this.#isRefusedPdf({ ...file, read })))
      return { part: { kind: 'file', name, mimeType, size, read }, sent };
    return this.#viewDocument(target, { ...file, read }, form.kind === 'document' ? form.reader : 'pdf');
  }

  /** Lines that cannot be sent are a line in their place, because the rest of the turn does not depend on them. */
  async #viewLines(target: string, range: LineRange, file: AttachedFile): Promise<AttachmentView> {
    const { signal } = this.#context;
    const chosen = await readLines(file, range, signal);
    if (chosen.kind === 'problem') return this.#leaveOut(target, range, chosen.reason);
    const { sent, missing, length } = chosen;
    const numbered = chosen.lines.map((line, at) => `${sent.first + at}\t${line}`);
    if (missing) {
      this.notes.push(`“${target}” has no ${describeLines(missing)}: ${length}.`);
      numbered.push(`[The file ends here: ${length}.]`);
    }
    const head = `${capitalize(describeLines(sent))} of the file ${target}, with line numbers:\n`;
    return { part: this.#viewText(target, numbered.join('\n'), head), sent: describeLines(sent) };
  }

  #leaveOut(target: string, range: LineRange, reason: string): AttachmentView {
    const lines = capitalize(describeLines(range));
    const are = range.first === range.last ? 'is' : 'are';
    this.notes.push(`${lines} of “${target}” ${are} not sent to the model: ${reason}.`);
    return { part: textPart(`[${lines} of the file ${target} ${are} not sent: ${reason}.]`) };
  }

  async #viewDocument(target: string, file: AttachedFile, reader: DocumentReader): Promise<AttachmentView> {
    const { signal } = this.#context;
    const outcome = await sharedConverter().readDocument({ bytes: await file.read(signal), reader }, signal);
    if (outcome.kind === 'failed')
      return this.#viewName(target, file, `its text cannot be read, because ${outcome.reason}`);
    const head = `Text of the file ${target}:\n`;
    const part = this.#viewText(target, renderDocument(outcome.document), head);
    return { part, sent: `as text, ${describeSize(file.size)}` };
  }

  /** Providers refuse PDFs with too many pages, with a password, or cut off. Small files are not opened to count their pages. */
  async #isRefusedPdf({ mimeType, size, read }: AttachedFile): Promise<boolean> {
    const { isEstimate, signal } = this.#context;
    const isSmall = size < MIN_COUNTED_BYTES;
    if (mimeType !== 'application/pdf' || (isSmall && isEstimate)) return false;
    const bytes = Buffer.from(await read(signal));
    if (bytes.includes('/Encrypt') || !bytes.includes('%%EOF', -PDF_END_BYTES)) return true;
    if (isSmall) return false;
    const first = [{ first: 1, last: 1 }];
    const outcome = await sharedConverter().readDocument({ bytes, reader: 'pdf', pages: first }, signal);
    return outcome.kind === 'document' && (outcome.document.total ?? 0) > MAX_PDF_PAGES;
  }

  #viewName(target: string, file: AttachedFile, reason: string): AttachmentView {
    this.notes.push(`Only the name of “${target}” is sent to the model: ${reason}.`);
    return { part: textPart(summarizeFile(target, file, this.#context.isOwnAsset(target))) };
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

type ReadLines =
  | {
      readonly kind: 'lines';
      readonly lines: readonly string[];
      readonly sent: LineRange;
      /** Those after the end of the file. */
      readonly missing?: LineRange | undefined;
      /** The length of the file, as the end of a sentence. */
      readonly length: string;
    }
  | { readonly kind: 'problem'; readonly reason: string };

/** The lines of a file that are sent for a link, or why there are none. */
export async function readLines(
  file: AttachedFile,
  range: LineRange,
  signal?: AbortSignal,
): Promise<ReadLines> {
  if (file.isFolder) return { kind: 'problem', reason: 'it is a folder' };
  // `isText` is only for UTF-8.
  if (!file.isText && documentReader(file.mimeType) !== 'plain')
    return { kind: 'problem', reason: 'it is not a text file' };
  const { lines, total } = selectLines(await readText(file, signal), range);
  const length = `it has ${total === 1 ? '1 line' : `${total} lines`}`;
  if (lines.length === 0) return { kind: 'problem', reason: length };
  const sent = { first: range.first, last: range.first + lines.length - 1 };
  const missing = sent.last < range.last ? { first: sent.last + 1, last: range.last } : undefined;
  return { kind: 'lines', lines, sent, missing, length };
}

/** The target of a link as the user wrote it, such as `a.ts#L10-L20`. */
export function linkName({ target, lines }: Pick<AttachedLink, 'target' | 'lines'>): string {
  return lines ? `${target}${renderLineRange(lines)}` : target;
}

function folderHead(target: string): string {
  return `Names and sizes of the files in the folder ${target}. Their content is not sent: to read a file, use a tool that reads files, or ask the user to link to it.\n`;
}

async function readText(file: AttachedFile, signal: AbortSignal | undefined): Promise<string> {
  const bytes = await file.read(signal);
  return decodeUtf8(bytes) ?? decodeOtherText(bytes) ?? new TextDecoder().decode(bytes);
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The links to local files in a turn, outside comments and code. */
function attachedLinks(chatText: string, turn: Turn): readonly AttachedLink[] {
  return localLinks(turnBody(chatText, turn)).map(({ target, lines, start, end }) => ({
    target,
    lines,
    start: turn.bodyStart + start,
    end: turn.bodyStart + end,
  }));
}

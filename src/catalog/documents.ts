import { detectText } from '../assets/chatFiles.ts';
import { inspectFile, readWhole } from '../assets/confined.ts';
import { describeSize } from '../base/size.ts';
import { sharedConverter } from '../media/convert/converter.ts';
import {
  countPages,
  documentReader,
  MAX_DOCUMENT_BYTES,
  renderDocument,
} from '../media/convert/documentText.ts';
import type { DocumentText, PageRange } from '../media/convert/job.ts';
import { parsePages, selectPages } from '../media/convert/pages.ts';
import { isTextType } from '../media/table.ts';
import { CatalogRefusal, entryTitle, type FoundEntry } from './entry.ts';
import type { ReadAs } from './specs.ts';
import { bytesWindow, type FileWindow, refusing } from './windows.ts';

export interface DocumentRequest {
  readonly start?: number | undefined;
  readonly maxBytes: number;
  readonly as?: ReadAs | undefined;
  /** `1-3,7` */
  readonly pages?: string | undefined;
}

/** A window of the text of a document. */
export interface DocumentWindow extends FileWindow {
  readonly document: {
    readonly mimeType: string;
    /** `12 pages`; undefined for documents without pages. */
    readonly pages?: string | undefined;
    readonly pageCount?: number | undefined;
    /** Why and how to read on, as a sentence. Undefined if all that was asked for was read. */
    readonly cut?: string | undefined;
  };
}

/** Undefined for files that are not documents, or whose bytes were asked for. Rejects with a `CatalogRefusal`. */
export async function readDocumentWindow(
  found: FoundEntry,
  request: DocumentRequest,
  signal?: AbortSignal,
): Promise<DocumentWindow | undefined> {
  const { as = 'auto', pages: written } = request;
  const pages = written === undefined ? undefined : readPages(written);
  if (as !== 'auto' && as !== 'text') return undefined;
  const file = await refusing(found.entry, () => inspectFile(found.path));
  const { mimeType, size } = file;
  const title = entryTitle(found.entry);
  const reader = found.entry.kind === 'chat' ? undefined : documentReader(mimeType);
  const isUtf8 = reader === 'plain' && detectText(file).isText;
  if (reader === undefined || isUtf8 || size === 0) {
    if (pages) throw new CatalogRefusal(noPages(title));
    return undefined;
  }
  // The source of a page or a notebook is text, too.
  const hasSource = isTextType(mimeType) && reader !== 'plain' && pages === undefined;
  if (hasSource && (as === 'text' || size > MAX_DOCUMENT_BYTES)) return undefined;
  if (size > MAX_DOCUMENT_BYTES) throw new CatalogRefusal(unreadable(title, tooLarge(size)));
  const bytes = await refusing(found.entry, () => readWhole(found.path, file, signal));
  const outcome = await sharedConverter().readDocument({ bytes, reader, pages }, signal);
  if (outcome.kind === 'failed' && hasSource) return undefined;
  if (outcome.kind === 'failed') throw new CatalogRefusal(unreadable(title, outcome.reason));
  const { document } = outcome;
  checkPages(title, document, pages);
  const text = Buffer.from(renderDocument(document));
  return {
    ...bytesWindow(text, request, reader === 'plain' ? mimeType : 'text/markdown'),
    document: { mimeType, pages: countPages(document), pageCount: document.total, cut: cutOf(document) },
  };
}

function cutOf({ isCut, unit, sections }: DocumentText): string | undefined {
  if (!isCut) return undefined;
  const last = sections.at(-1)?.number;
  return unit === 'page' && last !== undefined
    ? `Reading took too long and ended at page ${last}: continue with pages "${last + 1}-".`
    : 'It has more text than can be read.';
}

function readPages(written: string): readonly PageRange[] {
  const pages = parsePages(written);
  if (pages === undefined)
    throw new CatalogRefusal(
      `“${written.slice(0, 50)}” is not a list of pages. Write pages as 3, as 1-3,7 or as 10-.`,
    );
  return pages;
}

function checkPages(title: string, document: DocumentText, pages: readonly PageRange[] | undefined): void {
  if (pages === undefined) return;
  const count = countPages(document);
  if (count === undefined) throw new CatalogRefusal(noPages(title));
  if (selectPages(pages, document.total ?? 0).length === 0)
    throw new CatalogRefusal(`${title} has ${count}, and none of those was chosen.`);
}

function noPages(title: string): string {
  return `${title} has no pages. Read it in windows with start and maxBytes.`;
}

function tooLarge(size: number): string {
  return `it has ${describeSize(size)}, and at most ${describeSize(MAX_DOCUMENT_BYTES)} are read`;
}

function unreadable(title: string, reason: string): string {
  return `The text of ${title} cannot be read: ${reason}. To read its bytes, use as: "bytes".`;
}

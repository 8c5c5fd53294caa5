import { renderToolName, type WrittenCall } from '../../chat/format/callInfo.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { type ChatMdPiece, readChatMdResult } from '../../chat/format/legacy.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { readReply } from '../../chat/reply/read.ts';
import { sharedConverter } from '../../media/convert/converter.ts';
import { MAX_DOCUMENT_BYTES, renderDocument, selectText } from '../../media/convert/documentText.ts';
import type { DocumentText } from '../../media/convert/job.ts';
import { isSendableImage, MAX_IMAGE_BYTES, MAX_PDF_PAGES } from '../../media/imageLimits.ts';
import type { AttachedFile } from '../../ports/document.ts';
import type { CallResult, ContentPart } from '../../ports/models.ts';
import type { AssetPart, ResultPart, ToolResult } from '../../ports/results.ts';
import { cleanText } from '../../result/blocks.ts';
import { readToolResult } from '../../result/markdown.ts';
import { limitText, toModelParts } from '../../result/modelView.ts';
import { nameOf, textPart } from './messages.ts';
import { stripTags } from './modelTools.ts';
import { type FileContext, readOnce } from './readOnce.ts';
import { acceptsFile, MAX_FILE_BYTES } from './sentAs.ts';

export type ViewedResult = Pick<CallResult, 'isError' | 'parts'>;

/** The files that models made, by path: images that are sent, and a line for everything else. */
export type MadeViews = ReadonlyMap<string, ContentPart>;

/** What the model gets for each tool turn, and of its own files: text, the newest files, and a line for the rest. */
export async function viewResults(
  turns: readonly Turn[],
  context: FileContext,
): Promise<{ readonly results: ReadonlyMap<Turn, ViewedResult>; readonly made: MadeViews }> {
  const read = await Promise.all(
    turns.map(async (turn) => ({ turn, result: await readFilesOf(turn, context) })),
  );
  const assets = read.flatMap(({ result }) => result.parts).filter((part) => part.kind === 'asset');
  const files = await findAssets(assets, context);
  const forModel = assets.filter((part) => part.audience !== 'user');
  const documents = await readDocuments(forModel, files, context);
  const sent = newestFiles(forModel.filter(isSendable), files);
  const views: Views = { files, documents, sent };
  const made = assets.filter(({ asset }) => asset.maker === 'model');
  const tools = read.filter(({ turn }) => turn.role === 'tool');
  return {
    results: new Map(tools.map(({ turn, result }) => [turn, viewResult(result, views)])),
    made: new Map(
      made.flatMap((part) => viewPart(part, views).map((view) => [part.asset.path, view] as const)),
    ),
  };

  function isSendable(part: AssetPart): boolean {
    if (context.sendImages === 'never') return false;
    const file = files.get(part.asset.path);
    if (file?.mimeType === 'application/pdf') return documents.get(part)?.isSent === true;
    if (file?.mimeType.startsWith('audio/')) return isOfTool(part) && isSentWhole(file, context);
    const [view] = viewImage(part, files, 'always');
    return (
      view?.kind === 'file' && (context.sendImages === 'always' || acceptsFile(context.model, view.mimeType))
    );
  }
}

interface Views {
  readonly files: Files;
  readonly documents: Documents;
  readonly sent: ReadonlySet<ResultPart>;
}

type Documents = ReadonlyMap<ResultPart, { readonly isSent: boolean; readonly text: string }>;

/** Of older documents only the names are sent. */
const MAX_DOCUMENTS = 5;
/** Of a document that is sent as text. Models read the rest with `read_asset`. */
const MAX_TEXT_PAGES = 20;
const MAX_TEXT_CHARS = 20_000;

/** The newest PDFs of tools that can be read: a provider would refuse a request with any other. */
async function readDocuments(
  assets: readonly AssetPart[],
  files: Files,
  context: FileContext,
): Promise<Documents> {
  const last = new Map(assets.map(({ asset }, at) => [asset.path, at]));
  const isLast = ({ asset }: AssetPart, at: number) => last.get(asset.path) === at;
  const documents = assets.filter(
    (part, at) => isPdf(files.get(part.asset.path)) && isOfTool(part) && isLast(part, at),
  );
  const read = new Map<ResultPart, { isSent: boolean; text: string }>();
  let pages = MAX_PDF_PAGES;
  for (const part of newest(documents, MAX_DOCUMENTS, MAX_DOCUMENTS).toReversed()) {
    const file = files.get(part.asset.path);
    const document = file && (await readPages(file, context));
    if (!document) continue;
    const isSent = isSentWhole(file, context) && (document.total ?? 0) <= pages;
    if (isSent) pages -= document.total ?? 0;
    const text = renderDocument(selectText(document, undefined, MAX_TEXT_CHARS));
    read.set(part, { isSent, text: stripTags(text) });
  }
  return read;
}

async function readPages({ read }: AttachedFile, { signal }: FileContext): Promise<DocumentText | undefined> {
  const bytes = await read(signal).catch(() => undefined);
  signal?.throwIfAborted();
  if (bytes === undefined) return undefined;
  const pages = [{ first: 1, last: MAX_TEXT_PAGES }];
  const outcome = await sharedConverter().readDocument({ bytes, reader: 'pdf', pages }, signal);
  if (outcome.kind === 'failed') return undefined;
  const { document } = outcome;
  return (document.total ?? 0) > MAX_TEXT_PAGES ? { ...document, isCut: true } : document;
}

function isPdf(file: AttachedFile | undefined): boolean {
  return file?.mimeType === 'application/pdf' && file.size > 0 && file.size <= MAX_DOCUMENT_BYTES;
}

function isOfTool({ asset }: AssetPart): boolean {
  return asset.maker !== 'model';
}

function isSentWhole({ mimeType, size }: AttachedFile, { model }: FileContext): boolean {
  return size > 0 && size <= MAX_FILE_BYTES && model.accepts(mimeType);
}

const NO_RESULT: ToolResult = { isError: false, parts: [] };

async function readFilesOf(turn: Turn, context: FileContext): Promise<ToolResult> {
  if (turn.role !== 'tool' && turn.role !== 'assistant') return NO_RESULT;
  const body = turnBody(context.text, turn);
  if (turn.role === 'tool') return readResult(body, context);
  // Most replies have no files, and long chats have many replies.
  if (!body.includes('[Model generated ')) return NO_RESULT;
  const parts = readReply(body).flatMap((part): readonly AssetPart[] =>
    part.kind === 'file' ? [{ kind: 'asset', asset: part.asset }] : [],
  );
  return { isError: false, parts };
}

type Files = ReadonlyMap<string, AttachedFile>;

async function readResult(body: string, context: FileContext): Promise<ToolResult> {
  const pieces = readChatMdResult(body);
  if (!pieces) return readToolResult(body);
  const parts = await Promise.all(pieces.map((piece, at) => readStored(piece, at + 1, context)));
  return { isError: false, parts };
}

/** The files of chat.md: long results as text, images as images. Links to anything else stay text. */
async function readStored(piece: ChatMdPiece, number: number, context: FileContext): Promise<ResultPart> {
  if (piece.kind === 'text') return piece;
  const { path, written } = piece;
  const isOwn = context.isOwnAsset(path);
  const file = isOwn
    ? await context.attachments.find(path, context.signal).catch(() => undefined)
    : undefined;
  if (!file) return { kind: 'text', text: written };
  if (file.isText)
    return { kind: 'text', text: cleanText(new TextDecoder().decode(await file.read(context.signal))) };
  const kind = file.mimeType.startsWith('image/') ? 'image' : 'file';
  return { kind: 'asset', asset: { kind, number, path, name: file.name } };
}

/** Without missing and unreadable files: the model gets only their names. */
async function findAssets(parts: readonly AssetPart[], context: FileContext): Promise<Files> {
  const paths = new Set(parts.map((part) => part.asset.path).filter(context.isOwnAsset));
  const found = await Promise.all(
    [...paths].map(async (path) => {
      const file = await context.attachments.find(path, context.signal).catch(() => undefined);
      return file && ([path, { ...file, read: readOnce(file) }] as const);
    }),
  );
  return new Map(found.filter((each) => each !== undefined));
}

/** Of older files only the names are sent. */
const MAX_FILES = 20;
const STEP = 10;
/** There are few large files, so fewer are left out at a time. */
const BYTES_STEP = 3;

function newestFiles(parts: readonly AssetPart[], files: Files): ReadonlySet<ResultPart> {
  const kept = newest(parts, MAX_FILES, STEP);
  const bytesOf = ({ asset }: AssetPart) => {
    const { size = 0, mimeType = '' } = files.get(asset.path) ?? {};
    // Larger images are scaled down.
    return isSendableImage(mimeType) ? Math.min(size, MAX_IMAGE_BYTES) : size;
  };
  const bytes = () => kept.reduce((sum, part) => sum + bytesOf(part), 0);
  while (bytes() > MAX_FILE_BYTES) kept.splice(0, BYTES_STEP);
  return new Set(kept);
}

/**
 * Leaves out the oldest several at a time. If each new one displaced one, the beginning of the request would change
 * every time, and the provider's cache would be useless.
 */
function newest<Part>(parts: readonly Part[], max: number, step: number): Part[] {
  return parts.slice(Math.ceil(Math.max(0, parts.length - max) / step) * step);
}

function viewResult({ isError, parts }: ToolResult, views: Views): ViewedResult {
  const shown = parts
    .flatMap((part) => viewPart(part, views))
    // Other files have a line with their name.
    .flatMap((view) =>
      view.kind === 'file' && isSendableImage(view.mimeType) ? [nameOf(view), view] : [view],
    );
  const content = limitText(shown.filter((view) => view.kind === 'file' || view.text !== ''));
  // A result that consists of problems is an error, even if the tool reports none.
  const isFailure = isError || (parts.length > 0 && parts.every((part) => part.kind === 'problem'));
  // Several providers refuse an empty result.
  return { isError: isFailure, parts: content.length > 0 ? content : [textPart('(nothing)')] };
}

function viewPart(part: ResultPart, { files, documents, sent }: Views): readonly ContentPart[] {
  const file = part.kind === 'asset' ? files.get(part.asset.path) : undefined;
  const isSent = sent.has(part);
  const views = viewImage(part, files, isSent ? 'always' : 'never');
  const text = documents.get(part)?.text;
  if (isSent && file && !isSendableImage(file.mimeType)) return [...views, filePart(file)];
  return isSent || text === undefined ? views : [...views, textPart(`Its text:\n${text}`)];
}

function viewImage(part: ResultPart, files: Files, sendImages: 'always' | 'never'): readonly ContentPart[] {
  const about = (path: string) => files.get(path);
  return toModelParts({ isError: false, parts: [part] }, { about, sendImages }).map((view) => {
    const file = view.kind === 'image' ? files.get(view.path) : undefined;
    if (view.kind === 'text') return view;
    if (!file) throw new Error(`The file ${view.path} is unknown.`);
    return filePart({ ...file, mimeType: view.mimeType });
  });
}

function filePart({ name, mimeType, size, read }: AttachedFile): ContentPart {
  return { kind: 'file', name, mimeType, size, read };
}

/** A call by the user, before its result. Providers have no such calls, so it is sent as text. */
export function calledText(call: WrittenCall, result: ViewedResult | undefined): ContentPart {
  const called = `I called the tool ${renderToolName(call)} with these arguments:\n${call.argumentsText.trim() || '{}'}`;
  if (!result) return textPart(`${called}\nIt has no result.`);
  return textPart(`${called}\nIt returned${result.isError ? ' an error' : ''}:`);
}

import { renderToolName, type WrittenCall } from '../../chat/format/calls.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { type ChatMdPiece, readChatMdResult } from '../../chat/format/legacy.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { readReply } from '../../chat/reply/read.ts';
import { MAX_IMAGE_BYTES } from '../../media/imageLimits.ts';
import type { AttachedFile, AttachmentSource } from '../../ports/document.ts';
import type { CallResult, ChatModel, ContentPart } from '../../ports/models.ts';
import type { AssetPart, ResultPart, ToolResult } from '../../ports/results.ts';
import { cleanText } from '../../result/blocks.ts';
import { readToolResult } from '../../result/markdown.ts';
import { limitText, toModelParts } from '../../result/modelView.ts';
import { nameOf, textPart } from './messages.ts';
import { acceptsFile, MAX_FILE_BYTES } from './sentAs.ts';

export interface FileContext {
  /** The text of the chat. */
  readonly text: string;
  readonly attachments: AttachmentSource;
  readonly model: Pick<ChatModel, 'name' | 'accepts'>;
  readonly sendImages: 'auto' | 'always' | 'never';
  /** Whether a link leads to this chat's own assets. No other link in a tool turn is followed. */
  readonly isOwnAsset: (path: string) => boolean;
  /** Attached text is represented by its file, whose size is enough for an estimate. */
  readonly isEstimate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A call by the user, before its result. Providers have no such calls, so it is sent as text. */
export function calledText(call: WrittenCall, result: ViewedResult | undefined): ContentPart {
  const called = `I called the tool ${renderToolName(call)} with these arguments:\n${call.argumentsText.trim() || '{}'}`;
  if (!result) return textPart(`${called}\nIt has no result.`);
  return textPart(`${called}\nIt returned${result.isError ? ' an error' : ''}:`);
}

export type ViewedResult = Pick<CallResult, 'isError' | 'parts'>;

/** The files that models made, by path: images that are sent, and a line for everything else. */
export type MadeViews = ReadonlyMap<string, ContentPart>;

/** What the model gets for each tool turn, and of its own files: text, the newest images, and a line for the rest. */
export async function viewResults(
  turns: readonly Turn[],
  context: FileContext,
): Promise<{ readonly results: ReadonlyMap<Turn, ViewedResult>; readonly made: MadeViews }> {
  const read = await Promise.all(
    turns.map(async (turn) => ({ turn, result: await readFilesOf(turn, context) })),
  );
  const assets = read.flatMap(({ result }) => result.parts).filter((part) => part.kind === 'asset');
  const files = await findAssets(assets, context);
  const images = assets.filter((part) => part.audience !== 'user' && isSendable(part, files, context));
  const sent = newestImages(images, files);
  const isSent = (part: ResultPart) => (sent.has(part) ? 'always' : 'never');
  const made = assets.filter(({ asset }) => asset.maker === 'model');
  const tools = read.filter(({ turn }) => turn.role === 'tool');
  return {
    results: new Map(tools.map(({ turn, result }) => [turn, viewResult(result, files, sent)])),
    made: new Map(
      made.flatMap((part) =>
        viewPart(part, files, isSent(part)).map((view) => [part.asset.path, view] as const),
      ),
    ),
  };
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

/** Without missing and unreadable files, of which the model gets only the name. */
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

function isSendable(part: AssetPart, files: Files, { sendImages, model }: FileContext): boolean {
  if (sendImages === 'never') return false;
  const [view] = viewPart(part, files, 'always');
  return view?.kind === 'file' && (sendImages === 'always' || acceptsFile(model, view.mimeType));
}

/** Of older images only the names are sent. */
const MAX_IMAGES = 20;
const STEP = 10;
/** There are few large images, so fewer are left out at a time. */
const BYTES_STEP = 3;

/**
 * Leaves out the oldest images ten at a time. If each new image displaced one, the beginning of the request would
 * change every time, and the provider's cache would be useless.
 */
function newestImages(parts: readonly AssetPart[], files: Files): ReadonlySet<ResultPart> {
  const over = Math.max(0, parts.length - MAX_IMAGES);
  const kept = parts.slice(Math.ceil(over / STEP) * STEP);
  // Larger ones are scaled down.
  const bytesOf = ({ asset }: AssetPart) => Math.min(files.get(asset.path)?.size ?? 0, MAX_IMAGE_BYTES);
  const bytes = () => kept.reduce((sum, part) => sum + bytesOf(part), 0);
  while (bytes() > MAX_FILE_BYTES) kept.splice(0, BYTES_STEP);
  return new Set(kept);
}

function viewResult(
  { isError, parts }: ToolResult,
  files: Files,
  sent: ReadonlySet<ResultPart>,
): ViewedResult {
  const views = parts.flatMap((part) => viewPart(part, files, sent.has(part) ? 'always' : 'never'));
  const named = views.flatMap((view): readonly ContentPart[] =>
    view.kind === 'file' ? [nameOf(view), view] : [view],
  );
  const content = limitText(named.filter((view) => view.kind === 'file' || view.text !== ''));
  // A result that consists of problems is an error, even if the tool reports none.
  const isFailure = isError || (parts.length > 0 && parts.every((part) => part.kind === 'problem'));
  // Several providers refuse an empty result.
  return { isError: isFailure, parts: content.length > 0 ? content : [textPart('(nothing)')] };
}

function viewPart(part: ResultPart, files: Files, sendImages: 'always' | 'never'): readonly ContentPart[] {
  const about = (path: string) => files.get(path);
  return toModelParts({ isError: false, parts: [part] }, { about, sendImages }).map((view) => {
    const file = view.kind === 'image' ? files.get(view.path) : undefined;
    if (view.kind === 'text') return view;
    if (!file) throw new Error(`The file ${view.path} is unknown.`);
    return { kind: 'file', name: file.name, mimeType: view.mimeType, size: file.size, read: file.read };
  });
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

import type { Turn } from '../../chat/format/chat.ts';
import { readChatMdResult } from '../../chat/format/legacy.ts';
import { turnBody } from '../../chat/format/parse.ts';
import type { AttachedFile, AttachmentSource } from '../../ports/document.ts';
import type { CallResult, ChatModel, ContentPart } from '../../ports/models.ts';
import type { AssetPart, ResultPart, ToolResult } from '../../ports/results.ts';
import { readToolResult } from '../../result/markdown.ts';
import { toModelParts } from '../../result/modelView.ts';
import { textPart } from './messages.ts';

interface ViewOptions {
  readonly attachments: AttachmentSource;
  readonly model: Pick<ChatModel, 'accepts'>;
  readonly sendImages: 'auto' | 'always' | 'never';
  readonly maxImages: number;
  /** Whether a link leads to this chat's own assets. No other link in a tool turn is followed. */
  readonly isOwnAsset: (path: string) => boolean;
}

export type ViewedResult = Pick<CallResult, 'isError' | 'parts'>;

/** What the model gets for each tool turn: text, the newest images, and a line for everything else. */
export async function viewResults(
  text: string,
  turns: readonly Turn[],
  options: ViewOptions,
): Promise<ReadonlyMap<Turn, ViewedResult>> {
  const tools = turns.filter((turn) => turn.role === 'tool');
  const results = tools.map((turn) => ({ turn, result: readResult(turnBody(text, turn)) }));
  const assets = results.flatMap(({ result }) => result.parts).filter((part) => part.kind === 'asset');
  const files = await findAssets(assets, options);
  const sent = newestImages(
    assets.filter((part) => part.audience !== 'user' && isSendable(part, files, options)),
    options.maxImages,
    files,
  );
  return new Map(results.map(({ turn, result }) => [turn, viewResult(result, files, sent)]));
}

type Files = ReadonlyMap<string, AttachedFile>;

function readResult(body: string): ToolResult {
  const text = readChatMdResult(body);
  return text === undefined ? readToolResult(body) : { isError: false, parts: [{ kind: 'text', text }] };
}

/** Without missing and unreadable files, of which the model gets only the name. */
async function findAssets(parts: readonly AssetPart[], options: ViewOptions): Promise<Files> {
  const paths = new Set(parts.map((part) => part.asset.path).filter(options.isOwnAsset));
  const found = await Promise.all(
    [...paths].map(async (path) => {
      const file = await options.attachments.find(path).catch(() => undefined);
      return file && ([path, { ...file, read: readOnce(file) }] as const);
    }),
  );
  return new Map(found.filter((each) => each !== undefined));
}

function isSendable(part: AssetPart, files: Files, { sendImages, model }: ViewOptions): boolean {
  if (sendImages === 'never') return false;
  const [view] = viewPart(part, files, 'always');
  return view?.kind === 'file' && (sendImages === 'always' || model.accepts(view.mimeType));
}

const STEP = 10;
/** There are few large images, so fewer are left out at a time. */
const BYTES_STEP = 3;
/** About 27 MB as base64; the strictest provider accepts requests of 32 MB. */
const MAX_IMAGES_BYTES = 20_000_000;

/**
 * Leaves out the oldest images ten at a time. If each new image displaced one, the beginning of the request would
 * change every time, and the provider's cache would be useless.
 */
function newestImages(parts: readonly AssetPart[], max: number, files: Files): ReadonlySet<ResultPart> {
  const over = Math.max(0, parts.length - max);
  const step = Math.min(STEP, Math.max(1, max));
  const kept = parts.slice(Math.ceil(over / step) * step);
  const bytes = () => kept.reduce((sum, { asset }) => sum + (files.get(asset.path)?.size ?? 0), 0);
  while (bytes() > MAX_IMAGES_BYTES) kept.splice(0, BYTES_STEP);
  return new Set(kept);
}

function viewResult(
  { isError, parts }: ToolResult,
  files: Files,
  sent: ReadonlySet<ResultPart>,
): ViewedResult {
  const views = parts.flatMap((part) => viewPart(part, files, sent.has(part) ? 'always' : 'never'));
  // The model needs an image's name to pass it to another tool.
  const named = views.flatMap((view): readonly ContentPart[] =>
    view.kind === 'file' ? [textPart(`[asset:${view.name}]`), view] : [view],
  );
  const content = named.filter((view) => view.kind === 'file' || view.text !== '');
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

import type { RecentValues } from '../../base/collections.ts';
import type { ResultPart, ToolResult } from '../../ports/results.ts';
import type { ToolCall, ToolCallOptions, ToolInfo } from '../../ports/tools.ts';
import { assetReference } from '../../result/modelView.ts';
import type { Catalog } from '../catalog.ts';
import { checkMedia, type DocumentWindow, type MediaKind, readDocumentWindow } from '../contents.ts';
import { type AssetEntry, CatalogRefusal, type ChatId, type FoundEntry } from '../entry.ts';
import { listAssets, pageOf } from '../listAssets.ts';
import { searchChats } from '../searchChats.ts';
import { inputSchema, type ListedAsset, readArguments, BUILT_IN_SPECS as SPECS } from '../toolSpecs.ts';
import { type FileWindow, readWindow, type WindowRequest } from '../windows.ts';
import { type BuiltInPlaces, ChatFiles, readVisibleChat } from './readableFiles.ts';
import {
  answerResourceCall,
  describeResourceTools,
  isResourceTool,
  type ResourceAccess,
} from './resourceTools.ts';
import { listOutput, listText, readOutput, readText, searchText, textPart, windowParts } from './texts.ts';

/** Added to the descriptions of the assets server, because here the calling chat is known. */
const IN_CHATS = {
  list_assets: `Without chat, lists the assets of this chat; with chat "*", all assets. Pass asset:NAME as an argument to give a file to a tool.`,
  read_asset:
    'An image or audio of this chat is linked, and shown to you if you accept it. Other files that are not text are returned as hexadecimal digits.',
  search_chats: 'Without chat, searches all chats except this one.',
} as const;

type BuiltInTool = keyof typeof IN_CHATS;

function isBuiltIn(name: string): name is BuiltInTool {
  return Object.hasOwn(IN_CHATS, name);
}

export function describeTools(server: string): readonly ToolInfo[] {
  const files = Object.keys(IN_CHATS)
    .filter(isBuiltIn)
    .map((tool) => ({
      server,
      tool,
      title: SPECS[tool].title,
      description: `${SPECS[tool].description} ${IN_CHATS[tool]}`,
      inputSchema: inputSchema(SPECS[tool]),
      readOnly: true,
      readsReferences: true as const,
    }));
  return [...files, ...describeResourceTools(server)];
}

export interface CallContext {
  readonly places: BuiltInPlaces | undefined;
  readonly catalogs: RecentValues<Catalog>;
  readonly resources: ResourceAccess;
  readonly options: ToolCallOptions;
}

/**
 * Answers a tool call of a chat from the files beside it, or from the resources of its servers. Rejects only when
 * aborted, for a server that fails, or for a bug.
 */
export async function answerCall(
  { tool, arguments: args }: ToolCall,
  { places, catalogs, resources, options }: CallContext,
): Promise<ToolResult> {
  try {
    if (isResourceTool(tool)) return await answerResourceCall({ tool, args }, resources, options);
    if (!places) throw new CatalogRefusal(NO_FILES);
    if (!isBuiltIn(tool)) throw new CatalogRefusal(`Filechat has no tool “${tool}”.`);
    return {
      isError: false,
      parts: await ANSWERS[tool](new ChatFiles(places, catalogs), args, options.signal),
    };
  } catch (error) {
    if (!(error instanceof CatalogRefusal)) throw error;
    return { isError: false, parts: [{ kind: 'problem', message: error.message }] };
  }
}

const NO_FILES = 'This chat is not in a folder on this machine, so it has no files to read.';

type Answer = (
  files: ChatFiles,
  args: ToolCall['arguments'],
  signal: AbortSignal | undefined,
) => Promise<readonly ResultPart[]>;

const ANSWERS: Readonly<Record<BuiltInTool, Answer>> = {
  async list_assets(files, args, signal) {
    const { chat, ...query } = readArguments(SPECS.list_assets, args);
    const own = await files.id();
    const which = chat === undefined ? { chat: own } : whichChat(chat);
    if (chat === undefined || (own !== undefined && which.chat === own)) {
      const { assets, notes } = await files.own();
      const page = { ...pageOf(assets, query), notes };
      return [textPart(listText(listOutput(page), ({ asset }) => assetReference(asset)))];
    }
    const page = await listAssets(files.all(), { ...query, ...which }, signal);
    const beside = await files.beside(page.assets);
    const referenceTo = ({ chat: of, asset, uri }: ListedAsset) =>
      beside.has(of) ? assetReference(asset) : uri;
    return [textPart(listText(listOutput(page), referenceTo))];
  },

  async read_asset(files, args, signal) {
    const { uri, start, maxBytes, as = 'auto', pages } = readArguments(SPECS.read_asset, args);
    const found = await files.find(uri);
    const { entry } = found;
    const [asMedia, asWindow] = as === 'image' || as === 'audio' ? [as, 'bytes' as const] : [undefined, as];
    if (entry.kind === 'chat') {
      if (asMedia) checkMedia(found, entry.mimeType, asMedia);
      return chatParts(found, { start, maxBytes });
    }
    const document = await readDocumentWindow(found, { start, maxBytes, as, pages }, signal);
    if (document) return documentParts(entry, document);
    const window = await readWindow(found, { start, maxBytes, as: asWindow });
    if (asMedia) checkMedia(found, window.mimeType, asMedia);
    const shown = (args['maxBytes'] ?? undefined) === undefined ? fewBytes(window) : window;
    // Models often pass the default values explicitly.
    const media = asMedia ?? (as === 'auto' && !start ? mediaKind(entry, window) : undefined);
    const isBeside = entry.uri.startsWith('asset:');
    return windowParts({
      reference: entry.uri,
      about: readText(readOutput(entry, shown)),
      window: shown,
      asset: media && isBeside ? files.link(entry.asset, media) : undefined,
      isForeign: media !== undefined && !isBeside,
    });
  },

  async search_chats(files, args, signal) {
    const { chat, ...query } = readArguments(SPECS.search_chats, args);
    const which = chat === undefined ? { except: await files.id() } : whichChat(chat);
    return [textPart(searchText(await searchChats(files.all(), { ...query, ...which }, signal)))];
  },
};

/** The name and the bytes must agree. */
function mediaKind({ assetKind }: AssetEntry, { mimeType }: FileWindow): MediaKind | undefined {
  return assetKind !== 'file' && mimeType.startsWith(`${assetKind}/`) ? assetKind : undefined;
}

function documentParts(entry: AssetEntry, window: DocumentWindow): Promise<readonly ResultPart[]> {
  const about = readText(readOutput(entry, window), window.document);
  return windowParts({ reference: entry.uri, about, window });
}

async function chatParts(found: FoundEntry, wanted: WindowRequest): Promise<readonly ResultPart[]> {
  const { entry } = found;
  const { window, isCut } = await readVisibleChat(found, wanted);
  const about = readText(readOutput(entry, window));
  return windowParts({
    reference: entry.uri,
    about: isCut ? `${about} ${COMMENTS_LEFT_OUT}` : about,
    window,
  });
}

const COMMENTS_LEFT_OUT = 'Its comments are omitted.';

function whichChat(chat: ChatId): { readonly chat?: ChatId } {
  return chat === '*' ? {} : { chat };
}

/** Hexadecimal digits are expensive, and the first bytes identify a file. */
const MAX_HEX_BYTES = 1024;

function fewBytes(window: FileWindow): FileWindow {
  const { body, start, byteCount } = window;
  if (body.kind === 'text' || byteCount <= MAX_HEX_BYTES) return window;
  return {
    ...window,
    byteCount: MAX_HEX_BYTES,
    nextStart: start + MAX_HEX_BYTES,
    body: { kind: 'bytes', bytes: body.bytes.subarray(0, MAX_HEX_BYTES) },
  };
}

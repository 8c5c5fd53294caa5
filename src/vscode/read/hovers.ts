import { basename } from 'node:path';
import * as vscode from 'vscode';
import { type FileFacts, findAsset, findFile, isInside, readFacts } from '../../assets/confined.ts';
import { hasCode } from '../../base/errors.ts';
import { ASSET_FOLDER } from '../../base/names.ts';
import { describeSize } from '../../base/size.ts';
import { BUILT_IN_SERVER } from '../../catalog/tools/builtIn.ts';

import { allowsTool } from '../../chat/format/settings.ts';
import { type ChatReference, referenceAt } from '../../chat/outline/references.ts';
import { findAssetReferences } from '../../mcp/fileArguments/reference.ts';
import type { ToolName } from '../../ports/tools.ts';
import { chatOf, rangeOf } from '../chat/openChats.ts';
import { placesOf } from '../chat/places.ts';
import { CHAT_FILES } from '../run/lenses.ts';
import type { KnownServers } from '../servers/known.ts';
import { EDITOR_SERVER } from '../tools/editorTools.ts';
import { commandLink } from '../ui/plainMessage.ts';
import { plainMarkdown, toolHoverText } from './toolHover.ts';

const START_SERVER = 'filechat.startServer';
const MAX_LISTED = 20;

/** Hovers for links, assets and tool names. Starts no server. */
export function registerHovers(
  known: KnownServers,
  { globalStorageUri }: vscode.ExtensionContext,
): vscode.Disposable {
  return vscode.languages.registerHoverProvider(CHAT_FILES, {
    async provideHover(document, position) {
      const asset = assetAt(document, position);
      if (asset) {
        const text = await fileHover(document.uri, { kind: 'asset', name: asset.name }, globalStorageUri);
        return text && new vscode.Hover(text, asset.range);
      }
      const found = referenceAt(document.getText(), chatOf(document), document.offsetAt(position));
      const text = found && (await describe(found, { known, document, globalStorageUri }));
      return text && new vscode.Hover(text, rangeOf(document, found));
    },
  });
}

function assetAt(document: vscode.TextDocument, { line, character }: vscode.Position) {
  const found = findAssetReferences(document.lineAt(line).text).find(
    ({ start, end }) => start <= character && character <= end,
  );
  return found && { name: found.name, range: new vscode.Range(line, found.start, line, found.end) };
}

interface HoverContext {
  readonly known: KnownServers;
  readonly document: vscode.TextDocument;
  readonly globalStorageUri: vscode.Uri;
}

async function describe(
  found: ChatReference,
  { known, document, globalStorageUri }: HoverContext,
): Promise<vscode.MarkdownString | undefined> {
  switch (found.kind) {
    case 'file':
      return fileHover(document.uri, { kind: 'path', target: found.target }, globalStorageUri);
    case 'tool':
      return describeTool(found.tool, known);
    case 'toolPattern':
      return describePattern(found.pattern, known);
  }
}

/** The Markdown is not trusted, because it contains the server's text. */
async function describeTool(name: ToolName, known: KnownServers): Promise<vscode.MarkdownString | undefined> {
  // VS Code's own tools are listed by VS Code.
  if (name.server === EDITOR_SERVER) return undefined;
  const tool = await known.tool(name);
  return tool ? new vscode.MarkdownString(toolHoverText(tool)) : describeUnknown(name, known);
}

async function describeUnknown(
  { server, tool }: ToolName,
  known: KnownServers,
): Promise<vscode.MarkdownString | undefined> {
  const state = (await known.states()).get(server);
  // The built-in server cannot be started; without a state, its tools are switched off.
  if (server === BUILT_IN_SERVER && state === undefined) return undefined;
  const [serverName, toolName] = [server, tool].map((each) => `**${plainMarkdown(each, MAX_NAME_CHARS)}**`);
  if (state?.kind === 'ready') {
    const text = vscode.l10n.t('The server {0} has no tool {1}.', serverName ?? '', toolName ?? '');
    return new vscode.MarkdownString(text);
  }
  const text = vscode.l10n.t(
    'Nothing is known about {0} yet: the server {1} does not run.',
    toolName ?? '',
    serverName ?? '',
  );
  const start = commandLink(vscode.l10n.t('Start it'), START_SERVER, { server });
  const markdown = new vscode.MarkdownString(`${text}\n\n${start}`);
  markdown.isTrusted = { enabledCommands: [START_SERVER] };
  return markdown;
}

async function describePattern(pattern: string, known: KnownServers): Promise<vscode.MarkdownString> {
  const matches = (await known.tools()).filter((tool) => allowsTool({ tools: [pattern] }, tool));
  const shown = `**${plainMarkdown(pattern, MAX_NAME_CHARS)}**`;
  if (matches.length === 0) {
    return new vscode.MarkdownString(vscode.l10n.t('No tool of a server that runs fits {0}.', shown));
  }
  const names = matches.slice(0, MAX_LISTED).map(({ server, tool, title }) => {
    const about = title ? ` — ${plainMarkdown(title, MAX_NAME_CHARS)}` : '';
    return `- ${plainMarkdown(`${server}.${tool}`, MAX_NAME_CHARS)}${about}`;
  });
  const more = matches.length - MAX_LISTED;
  const rest = more > 0 ? [`- ${vscode.l10n.t('and {0} more', more)}`] : [];
  const head = vscode.l10n.t('{0} fits these tools of servers that run:', shown);
  return new vscode.MarkdownString([head, '', ...names, ...rest].join('\n'));
}

type HoveredFile =
  | { readonly kind: 'path'; readonly target: string }
  | { readonly kind: 'asset'; readonly name: string };

const SHOW_ASSETS = 'filechat.showAssets';
const MAX_NAME_CHARS = 100;
/** A hover is 250 pixels high. `bytes` and `pixels` limit the original, which is decoded as a whole. */
const MAX_SHOWN = { width: 360, height: 150, bytes: 20_000_000, pixels: 40_000_000 };
const SHOWN_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/** The image and facts of a file. Undefined for files outside of the allowed folders. */
async function fileHover(
  chat: vscode.Uri,
  file: HoveredFile,
  globalStorage: vscode.Uri,
): Promise<vscode.MarkdownString | undefined> {
  const places = placesOf(chat, globalStorage);
  try {
    const path = await (file.kind === 'asset'
      ? findAsset(places.assetsIn, file.name)
      : findFile({ folder: places.folder, roots: [...places.roots, places.assetsIn] }, file.target));
    const isAsset = isInside(
      vscode.Uri.joinPath(vscode.Uri.file(places.assetsIn), ASSET_FOLDER).fsPath,
      path,
    );
    return describeFile(path, await readFacts(path), isAsset ? chat : undefined);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) return undefined;
    const name = plainMarkdown(file.kind === 'asset' ? file.name : file.target, MAX_NAME_CHARS);
    return new vscode.MarkdownString(vscode.l10n.t('There is no file {0}.', `**${name}**`));
  }
}

function describeFile(path: string, facts: FileFacts, chat: vscode.Uri | undefined): vscode.MarkdownString {
  const uri = vscode.Uri.file(path).toString();
  const name = `**${plainMarkdown(basename(path), MAX_NAME_CHARS)}**`;
  const open = `[${vscode.l10n.t('Open')}](${uri})`;
  const shown = chat && { uri: chat.toString(), asset: basename(path) };
  const gallery = shown && commandLink(vscode.l10n.t('Show in gallery'), SHOW_ASSETS, shown);
  const lines = [
    ...renderImage(uri, facts),
    [name, factsLine(facts), [open, ...(gallery ? [gallery] : [])].join(' · ')].join('  \n'),
  ];
  const markdown = new vscode.MarkdownString(lines.join('\n\n'));
  markdown.isTrusted = { enabledCommands: [SHOW_ASSETS] };
  return markdown;
}

function renderImage(uri: string, { mimeType, size, pixels }: FileFacts): readonly string[] {
  if (!SHOWN_TYPES.test(mimeType) || !pixels || size > MAX_SHOWN.bytes) return [];
  const { width, height } = pixels;
  if (width < 1 || height < 1 || width * height > MAX_SHOWN.pixels) return [];
  const scale = Math.min(1, MAX_SHOWN.width / width, MAX_SHOWN.height / height);
  const [w, h] = [width, height].map((each) => Math.max(1, Math.round(each * scale)));
  return [`![${vscode.l10n.t('Picture')}](${uri}|width=${w},height=${h})`];
}

function factsLine({ mimeType, size, pixels, seconds, changed }: FileFacts): string {
  const facts = [
    `${kindOf(mimeType)} (${plainMarkdown(mimeType, MAX_NAME_CHARS)})`,
    ...(pixels ? [vscode.l10n.t('{0} × {1} pixels', pixels.width, pixels.height)] : []),
    ...(seconds === undefined ? [] : [describeLength(seconds)]),
    describeSize(size),
    changed.toLocaleString(vscode.env.language, { dateStyle: 'medium', timeStyle: 'short' }),
  ];
  return facts.join(' · ');
}

function kindOf(mimeType: string): string {
  if (mimeType.startsWith('image/')) return vscode.l10n.t('Picture');
  if (mimeType.startsWith('audio/')) return vscode.l10n.t('Sound');
  if (mimeType.startsWith('video/')) return vscode.l10n.t('Film');
  return mimeType === 'application/pdf' ? vscode.l10n.t('PDF') : vscode.l10n.t('File');
}

/** `4.2 s`, `3:07` or `1:02:45`. */
function describeLength(seconds: number): string {
  if (seconds < 10) return vscode.l10n.t('{0} s', seconds.toFixed(1));
  const whole = Math.round(seconds);
  const two = (value: number) => String(value).padStart(2, '0');
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60];
  return hours > 0 ? `${hours}:${two(minutes)}:${two(whole % 60)}` : `${minutes}:${two(whole % 60)}`;
}

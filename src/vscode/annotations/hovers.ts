import { basename, join } from 'node:path';
import * as vscode from 'vscode';
import { type FileFacts, findAsset, findFile, isInside, readFacts } from '../../assets/confined.ts';
import { ASSET_FOLDER, BUILT_IN_SERVER } from '../../base/assetNames.ts';
import { hasCode } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import { allowsTool } from '../../chat/format/frontMatter.ts';
import { type ChatReference, findAssetUses, referenceAt } from '../../chat/outline/references.ts';
import { findAssetReferences } from '../../mcp/fileArguments/reference.ts';
import type { ToolName } from '../../ports/tools.ts';
import { findResourceLinks } from '../../result/resourceLinks.ts';
import { assetTitle } from '../chat/assetTitle.ts';
import { CHAT_FILES, type ChatPlaces, chatOf, placesOf, rangeOf } from '../chat/chatFiles.ts';
import type { KnownServers } from '../servers/known.ts';
import { EDITOR_SERVER } from '../tools/editorTools.ts';
import { commandLink } from '../ui/plainMessage.ts';
import { plainMarkdown, toolHoverText } from './toolHover.ts';

const START_SERVER = 'filechat.startServer';
const OPEN_RESOURCE = 'filechat.openResource';
const SHOW_ASSETS = 'filechat.showAssets';
const MAX_LISTED = 20;
const MAX_NAME_CHARS = 100;

/**
 * Hovers for links, assets and tool names, and links for `asset:` references and resources. Starts no server before a
 * click. A resource is opened by our own command, which asks its server for it; its URI is never followed.
 */
export function registerReferences(
  known: KnownServers,
  { globalStorageUri }: vscode.ExtensionContext,
): vscode.Disposable {
  return vscode.Disposable.from(
    vscode.languages.registerHoverProvider(CHAT_FILES, {
      async provideHover(document, position) {
        const places = placesOf(document.uri, globalStorageUri);
        const asset = assetAt(document, position);
        if (asset) {
          const text = await fileHover(document, places, { asset: asset.name });
          return text && new vscode.Hover(text, asset.range);
        }
        const offset = document.offsetAt(position);
        const found = referenceAt(document.getText(), chatOf(document), offset);
        if (!found) return undefined;
        // Over the target of a link, VS Code shows the image itself.
        const hasImage = document.getText().slice(found.start, offset).includes('](');
        const text = await (found.kind === 'file'
          ? fileHover(document, places, { target: found.target, hasImage })
          : toolHover(found, known));
        return text && new vscode.Hover(text, rangeOf(document, found));
      },
    }),
    vscode.languages.registerDocumentLinkProvider(CHAT_FILES, {
      provideDocumentLinks: (document) => [
        ...findAssetReferences(document.getText()).map((reference) => {
          const target = assetUri(document.uri, reference.name, globalStorageUri);
          return linkTo(target, rangeOf(document, reference), vscode.l10n.t('Open the asset'));
        }),
        ...findResourceLinks(document.getText(), chatOf(document)).map(({ server, uri, ...range }) => {
          return linkTo(
            openResourceUri(server, uri),
            rangeOf(document, range),
            vscode.l10n.t('Open the resource'),
          );
        }),
      ],
    }),
  );
}

function linkTo(target: vscode.Uri, range: vscode.Range, tooltip: string): vscode.DocumentLink {
  return Object.assign(new vscode.DocumentLink(range, target), { tooltip });
}

/** Not parsed from a string, because the editor would then decode the URI of the resource twice. */
function openResourceUri(server: string, resource: string): vscode.Uri {
  const query = encodeURIComponent(JSON.stringify([{ server, resource }]));
  return vscode.Uri.from({ scheme: 'command', path: OPEN_RESOURCE, query });
}

function assetAt(document: vscode.TextDocument, { line, character }: vscode.Position) {
  const found = findAssetReferences(document.lineAt(line).text).find(
    ({ start, end }) => start <= character && character <= end,
  );
  return found && { name: found.name, range: new vscode.Range(line, found.start, line, found.end) };
}

/** The file is not looked up before the click. `name` has no slashes, so it stays in the folder. */
function assetUri(chat: vscode.Uri, name: string, globalStorage: vscode.Uri): vscode.Uri {
  const folder =
    chat.scheme === 'untitled'
      ? vscode.Uri.file(placesOf(chat, globalStorage).assetsIn)
      : vscode.Uri.joinPath(chat, '..');
  return vscode.Uri.joinPath(folder, ASSET_FOLDER, name);
}

/** Not trusted unless commands are given, because it contains the text of servers. */
function markdown(text: string, ...enabledCommands: string[]): vscode.MarkdownString {
  const result = new vscode.MarkdownString(text);
  if (enabledCommands.length > 0) result.isTrusted = { enabledCommands };
  return result;
}

function bold(name: string): string {
  return `**${plainMarkdown(name, MAX_NAME_CHARS)}**`;
}

async function toolHover(
  found: Exclude<ChatReference, { kind: 'file' }>,
  known: KnownServers,
): Promise<vscode.MarkdownString | undefined> {
  if (found.kind === 'toolPattern') return describePattern(found.pattern, known);
  // VS Code's own tools are listed by VS Code.
  if (found.tool.server === EDITOR_SERVER) return undefined;
  const tool = await known.tool(found.tool);
  return tool ? markdown(toolHoverText(tool)) : describeUnknown(found.tool, known);
}

async function describeUnknown(
  { server, tool }: ToolName,
  known: KnownServers,
): Promise<vscode.MarkdownString | undefined> {
  const state = (await known.states()).get(server);
  // The built-in server cannot be started; without a state, its tools are switched off.
  if (server === BUILT_IN_SERVER && state === undefined) return undefined;
  if (state?.kind === 'ready') {
    return markdown(vscode.l10n.t('The server {0} has no tool {1}.', bold(server), bold(tool)));
  }
  const text = vscode.l10n.t(
    'No information about {0}: the server {1} is not running.',
    bold(tool),
    bold(server),
  );
  const start = commandLink(vscode.l10n.t('Start Server'), START_SERVER, { server });
  return markdown(`${text}\n\n${start}`, START_SERVER);
}

async function describePattern(pattern: string, known: KnownServers): Promise<vscode.MarkdownString> {
  const matches = (await known.tools()).filter((tool) => allowsTool({ tools: [pattern] }, tool));
  if (matches.length === 0)
    return markdown(vscode.l10n.t('No tool on a running server matches {0}.', bold(pattern)));
  const names = matches.slice(0, MAX_LISTED).map(({ server, tool, title }) => {
    const about = title ? ` — ${plainMarkdown(title, MAX_NAME_CHARS)}` : '';
    return `- ${plainMarkdown(`${server}.${tool}`, MAX_NAME_CHARS)}${about}`;
  });
  const more = matches.length - MAX_LISTED;
  const rest = more > 0 ? [`- ${vscode.l10n.t('and {0} more', more)}`] : [];
  const head = vscode.l10n.t('{0} matches these tools on running servers:', bold(pattern));
  return markdown([head, '', ...names, ...rest].join('\n'));
}

/** A hover is 250 pixels high. `bytes` and `pixels` limit the original, which is decoded as a whole. */
const MAX_SHOWN = { width: 360, height: 150, bytes: 20_000_000, pixels: 40_000_000 };
const SHOWN_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/** The image and facts of a file. Undefined for files outside of the allowed folders. */
async function fileHover(
  document: vscode.TextDocument,
  { folder, roots, assetsIn }: ChatPlaces,
  file: { readonly target: string; readonly hasImage: boolean } | { readonly asset: string },
): Promise<vscode.MarkdownString | undefined> {
  try {
    const path = await ('asset' in file
      ? findAsset(assetsIn, file.asset)
      : findFile({ folder, roots: [...roots, assetsIn] }, file.target));
    const isAsset = isInside(join(assetsIn, ASSET_FOLDER), path);
    const facts = await readFacts(path);
    const lines = describeFile(path, facts, isAsset ? document : undefined);
    const hasImage = 'target' in file && file.hasImage;
    return markdown([...(hasImage ? [] : renderImage(path, facts)), lines].join('\n\n'), SHOW_ASSETS);
  } catch (error) {
    if (!hasCode(error, 'ENOENT')) return undefined;
    return markdown(
      vscode.l10n.t('The file {0} does not exist.', bold('asset' in file ? file.asset : file.target)),
    );
  }
}

/** `chat` if it is an asset. */
function describeFile(path: string, facts: FileFacts, chat: vscode.TextDocument | undefined): string {
  const name = basename(path);
  const title = chat ? titleIn(chat, name) : name;
  const open = `[${vscode.l10n.t('Open')}](${vscode.Uri.file(path)})`;
  const shown = chat && { uri: chat.uri.toString(), asset: name };
  const gallery = shown ? [commandLink(vscode.l10n.t('Show in Gallery'), SHOW_ASSETS, shown)] : [];
  const fileName = title === name ? [] : [plainMarkdown(name, MAX_NAME_CHARS)];
  return [bold(title), factsLine(facts), ...fileName, [open, ...gallery].join(' · ')].join('  \n');
}

function titleIn(chat: vscode.TextDocument, fileName: string): string {
  const uses = findAssetUses(chat.getText(), chatOf(chat));
  return assetTitle(
    fileName,
    uses.filter(({ path }) => basename(path) === fileName),
  );
}

function renderImage(path: string, { mimeType, size, pixels }: FileFacts): readonly string[] {
  if (!SHOWN_TYPES.test(mimeType) || !pixels || size > MAX_SHOWN.bytes) return [];
  const { width, height } = pixels;
  if (width < 1 || height < 1 || width * height > MAX_SHOWN.pixels) return [];
  const scale = Math.min(1, MAX_SHOWN.width / width, MAX_SHOWN.height / height);
  const [w, h] = [width, height].map((each) => Math.max(1, Math.round(each * scale)));
  return [`![${vscode.l10n.t('Image')}](${vscode.Uri.file(path)}|width=${w},height=${h})`];
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
  if (mimeType.startsWith('image/')) return vscode.l10n.t('Image');
  if (mimeType.startsWith('audio/')) return vscode.l10n.t('Audio');
  if (mimeType.startsWith('video/')) return vscode.l10n.t('Video');
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

import { basename } from 'node:path';
import * as vscode from 'vscode';
import { findAsset, findFile, isInside } from '../../assets/confined.ts';
import { type FileFacts, readFacts } from '../../assets/facts.ts';
import { ASSET_FOLDER } from '../../assets/names.ts';
import { hasCode } from '../../assets/writeFile.ts';
import { describeSize } from '../../result/summary.ts';
import { placesOf } from '../chat/places.ts';
import { commandLink } from '../ui/commandLink.ts';
import { plainMarkdown } from './toolHover.ts';

/** What a chat points at: a path from its folder, or the name of an asset. */
export type HoveredFile =
  | { readonly kind: 'path'; readonly target: string }
  | { readonly kind: 'asset'; readonly name: string };

const SHOW_ASSETS = 'filechat.showAssets';
export const MAX_NAME_CHARS = 100;
/** The picture in the hover, of which the editor shows 250 pixels; the picture itself is decoded whole. */
const MAX_SHOWN = { width: 360, height: 150, bytes: 20_000_000, pixels: 40_000_000 };
const SHOWN_TYPES = /^image\/(?:png|jpeg|gif|webp|avif|bmp)$/;

/** The picture itself or, of what cannot be shown, what it is. Nothing for files outside of what may be read. */
export async function fileHover(
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
    ...picture(uri, facts),
    [name, factsLine(facts), [open, ...(gallery ? [gallery] : [])].join(' · ')].join('  \n'),
  ];
  const markdown = new vscode.MarkdownString(lines.join('\n\n'));
  markdown.isTrusted = { enabledCommands: [SHOW_ASSETS] };
  return markdown;
}

function picture(uri: string, { mimeType, size, pixels }: FileFacts): readonly string[] {
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

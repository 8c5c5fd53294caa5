import type { MarkdownIt, Token } from 'markdown-it';
import { readAssetName } from '../../base/assetNames.ts';
import type { Role } from '../../chat/format/chat.ts';
import { readGeneratedLabel } from '../../chat/outline/assetLabel.ts';
import { type Formats, toHtml } from './html.ts';
import { documentOf, isLocal, replaceRule } from './inert.ts';
import type { PreviewOptions, PreviewWords } from './options.ts';

/** The `meta` of a link to a local file. */
interface FileMeta {
  readonly kind: 'audio' | 'video' | 'file';
  readonly href: string;
  readonly name: string;
  readonly extension: string;
}

/** Further players do not load metadata until they are played. */
const MAX_PRELOADED_MEDIA = 20;

const KINDS: Readonly<Record<string, readonly string[]>> = {
  audio: ['wav', 'mp3', 'ogg', 'oga', 'opus', 'm4a', 'aac', 'flac', 'weba'],
  video: ['mp4', 'webm', 'mov', 'm4v', 'ogv'],
  image: ['png', 'jpg', 'jpeg', 'gif', 'webp', 'svg', 'avif', 'bmp', 'ico'],
  pdf: ['pdf'],
  table: ['csv', 'tsv', 'xlsx', 'xls', 'ods', 'parquet'],
  archive: ['zip', 'gz', 'tgz', 'tar', '7z', 'bz2', 'xz'],
  code: ['json', 'js', 'ts', 'py', 'html', 'css', 'xml', 'yaml', 'yml', 'toml', 'sh', 'sql'],
};
const KIND_OF = new Map(
  Object.entries(KINDS).flatMap(([kind, names]) => names.map((name) => [name, kind] as const)),
);

/** Marks links to files. Returns the time of the first asset among them. */
export function readLinks(
  children: readonly Token[],
  role: Role,
  words: Pick<PreviewWords, 'generated'>,
): string | undefined {
  let time: string | undefined;
  let link: { readonly open: Token; readonly words: Token[]; readonly isImage: boolean } | undefined;
  for (const [index, token] of children.entries()) {
    if (token.type === 'link_open') {
      link = { open: token, words: [], isImage: takeImageMark(children[index - 1], token) };
    } else if (token.type === 'link_close' && link) {
      if (link.isImage) readRemoteImage(link.open, token, link.words);
      else readLink(link.open, token, link.words, role, words);
      link = undefined;
    } else {
      link?.words.push(token);
      if (token.type === 'image') readImage(token, link !== undefined, words);
    }
    const address = token.attrGet('src') ?? token.attrGet('href');
    time ??= savedAt(String(address ?? ''));
  }
  return time;
}

/** Filechat writes `\![…](https://…)` for an image of a reply, which is then a link after an exclamation mark. */
function takeImageMark(before: Token | undefined, open: Token): boolean {
  const isRemote = !isLocal(String(open.attrGet('href') ?? ''));
  // Other links can follow an exclamation mark: `Look!https://…`
  if (before?.type !== 'text' || !before.content.endsWith('!') || !isRemote || open.markup !== '')
    return false;
  before.content = before.content.slice(0, -1);
  return true;
}

function readRemoteImage(open: Token, close: Token, words: readonly Token[]): void {
  const address = String(open.attrGet('href') ?? '');
  open.attrSet('title', address);
  if (words.length === 0) open.meta = { address };
  close.meta = { isRemoteImage: true };
}

function readImage(token: Token, isInLink: boolean, words: Pick<PreviewWords, 'generated'>): void {
  token.attrSet('loading', 'lazy');
  const generated = readGeneratedLabel(token.content);
  const fileName = /[^/\\]+$/.exec(String(token.attrGet('src') ?? ''))?.[0];
  token.meta = { isInLink, ...(generated && fileName && { fileName }) };
  const [only] = token.children ?? [];
  if (!generated || !only) return;
  const label = generated.name ?? words.generated(generated.kind, generated.number);
  token.content = label;
  token.children = [Object.assign(only, { content: label })];
}

/** `2026 11 16 09 30 12` */
function savedAt(address: string): string | undefined {
  const [, name = ''] = /^(?:\.\/)?cmdassets\/(.+)$/.exec(address) ?? [];
  return readAssetName(name)?.time.replace(/(....)(..)(..)-(..)(..)(..)/, '$1 $2 $3 $4 $5 $6');
}

function readLink(
  open: Token,
  close: Token,
  words: readonly Token[],
  role: Role,
  named: Pick<PreviewWords, 'generated'>,
): void {
  const meta = readFile(String(open.attrGet('href') ?? ''), words);
  const isAsset = meta !== undefined && /^(?:\.\/)?cmdassets\//.test(meta.href);
  // In a reply, a link to a source file is just text.
  if (!meta || (meta.kind === 'file' && role === 'assistant' && !isAsset)) return;
  open.meta = { ...meta };
  close.meta = { ...meta };
  open.attrJoin('class', `filechat-chip filechat-kind-${KIND_OF.get(meta.extension) ?? 'file'}`);
  const [only, ...others] = words;
  const generated = only && others.length === 0 ? readGeneratedLabel(only.content) : undefined;
  if (!only || !generated) return;
  // The file name is enough.
  only.content = generated.name ?? named.generated(generated.kind, generated.number);
  open.meta = { ...meta, name: only.content };
  close.meta = open.meta;
  open.attrSet('title', meta.href.replace(/^.*[\\/]/, ''));
}

function readFile(href: string, words: readonly Token[]): FileMeta | undefined {
  const [path = ''] = href.split(/[?#]/);
  const extension = /[^/\\]\.([a-z0-9]{1,8})$/i.exec(path)?.[1]?.toLowerCase();
  if (extension === undefined || !isLocal(href) || /^[\\/]/.test(path)) return undefined;
  if (words.some(({ type }) => type === 'image')) return undefined;
  const kind = KIND_OF.get(extension);
  const name = words.map(({ content }) => content).join('');
  return { kind: kind === 'audio' || kind === 'video' ? kind : 'file', href: path, name, extension };
}

/** Renders images that open in a dialog, players, and chips for files. */
export function addLinkRules(md: MarkdownIt, { words, sizeOf }: PreviewOptions, formats: Formats): void {
  let media = { env: undefined as unknown, count: 0 };

  replaceRule(md, 'image', (original) => (tokens, index, options, env, self) => {
    const html = original(tokens, index, options, env, self);
    const { meta, content } = tokens[index] ?? {};
    if (meta?.['isInLink'] !== false || !html.startsWith('<img')) return html;
    const label = content ? '' : ` aria-label="${toHtml(words.image)}"`;
    const fileName = meta['fileName'] === undefined ? '' : `\n${meta['fileName']}`;
    const title = toHtml(`${words.openImage}${fileName}`);
    return `<button type="button" class="filechat-image" aria-haspopup="dialog" title="${title}"${label}>${html}</button>`;
  });
  replaceRule(md, 'link_open', (original) => (tokens, index, options, env, self) => {
    const html = original(tokens, index, options, env, self);
    const file = fileOf(tokens[index]);
    if (!file) return html + toHtml(String(tokens[index]?.meta?.['address'] ?? ''));
    const chip = `${html}<span class="filechat-icon" aria-hidden="true"></span>`;
    if (file.kind === 'file') return chip;
    media = media.env === env ? { env, count: media.count + 1 } : { env, count: 1 };
    const preload = media.count > MAX_PRELOADED_MEDIA ? 'none' : 'metadata';
    const player = `${file.kind} controls preload="${preload}" src="${toHtml(file.href)}" aria-label="${toHtml(file.name)}"`;
    return `<span class="filechat-media"><${player}></${file.kind}>${chip}`;
  });
  replaceRule(md, 'link_close', (original) => (tokens, index, options, env, self) => {
    const html = original(tokens, index, options, env, self);
    const file = fileOf(tokens[index]);
    if (tokens[index]?.meta?.['isRemoteImage'] === true) return ` (${toHtml(words.notLoaded)})${html}`;
    if (!file) return html;
    const document = documentOf(env);
    const size = document && sizeOf?.(document, file.href);
    const about = [
      ...(file.name.toLowerCase().endsWith(`.${file.extension}`) ? [] : [file.extension.toUpperCase()]),
      ...(size === undefined ? [] : [formats.size(size)]),
    ];
    const shown = about.length === 0 ? '' : ` <span class="filechat-about">${about.join(' · ')}</span>`;
    const end = file.kind === 'file' ? '' : '</span>';
    return `${shown}${html}${end}`;
  });
}

function fileOf(token: Token | undefined): FileMeta | undefined {
  const meta: Partial<FileMeta> | null | undefined = token?.meta;
  return meta?.extension === undefined ? undefined : (meta as FileMeta);
}

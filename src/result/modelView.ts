import { BUDGET } from '../base/budget.ts';
import { describeSize } from '../base/size.ts';
import { isSendableImage, MAX_SCALED_BYTES, SENT_TYPES } from '../media/imageLimits.ts';
import { mediaByExtension, UNKNOWN } from '../media/table.ts';
import type { Asset, AssetPart, LinkPart, ResultPart, ToolResult } from '../ports/results.ts';

type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly path: string; readonly mimeType: string };

export interface ModelViewOptions {
  readonly about: (path: string) => { readonly size: number; readonly mimeType: string } | undefined;
  readonly sendImages?: 'auto' | 'always' | 'never';
}

/** Text as text, images as images, and one short line for everything else. */
export function toModelParts({ parts }: ToolResult, options: ModelViewOptions): readonly ModelPart[] {
  return parts.filter((part) => part.audience !== 'user').flatMap((part) => viewPart(part, options));
}

/** Cuts the text of one result where it is longer than a result may be in a chat. Other parts are kept. */
export function limitText<Part extends { readonly kind: string; readonly text?: string }>(
  parts: readonly Part[],
): readonly Part[] {
  const total = parts.reduce((sum, part) => sum + (part.text?.length ?? 0), 0);
  const { resultChars } = BUDGET;
  if (total <= resultChars) return parts;
  const note = `\n[Cut: these are the first ${resultChars} of ${total} characters.]`;
  let left = resultChars - note.length;
  return parts.flatMap((part) => {
    if (part.text === undefined) return [part];
    if (left < 0) return [];
    const shown = part.text.slice(0, left).toWellFormed();
    left -= part.text.length;
    return [{ ...part, text: left < 0 ? `${shown}${note}` : shown }];
  });
}

function viewPart(part: ResultPart, options: ModelViewOptions): readonly ModelPart[] {
  switch (part.kind) {
    case 'text':
      return [text(part.source ? `From ${part.source.uri}:\n${part.text}` : part.text)];
    case 'data':
      return [text(part.json)];
    case 'problem':
      return withPreview(text(`⚠ ${part.message}`), part.preview);
    case 'link':
      return [text(describeLink(part))];
    case 'asset':
      return viewAsset(part, options);
  }
}

function viewAsset({ asset, preview }: AssetPart, options: ModelViewOptions): readonly ModelPart[] {
  const about = options.about(asset.path);
  const mimeType = about?.mimeType ?? typeByName(asset.path);
  // Larger ones are scaled when the request is sent.
  const isRead = about !== undefined && about.size > 0 && about.size <= MAX_SCALED_BYTES;
  // A TIFF is saved as a file, because few programs show it.
  const isImage = isSendableImage(mimeType) && (asset.kind === 'image' || !SENT_TYPES.has(mimeType));
  if (isImage && isRead && options.sendImages !== 'never') {
    return [{ kind: 'image', path: asset.path, mimeType }];
  }
  return withPreview(text(summarize(describeAsset(asset, mimeType, about))), preview);
}

function withPreview(line: ModelPart, preview: string | undefined): readonly ModelPart[] {
  return preview === undefined ? [line] : [line, text(preview)];
}

/** How arguments of a tool call refer to an asset. */
export function assetReference(path: string): string {
  return `asset:${path.slice(path.lastIndexOf('/') + 1)}`;
}

/** The MIME types of Office files are longer and no clearer than the extension. */
const MAX_TYPE_CHARS = 40;

export function describeAsset(
  { kind, number, path, name }: Asset,
  mimeType: string,
  about: { readonly size: number } | undefined,
): SummaryValues {
  return {
    kind,
    name: stripTags(name ?? String(number)),
    type: mimeType.length > MAX_TYPE_CHARS ? extensionOf(path) : mimeType,
    size: about ? describeSize(about.size) : '',
    ref: assetReference(path),
  };
}

function describeLink({ uri, name, mimeType, size }: LinkPart): string {
  return summarize({
    kind: 'resource',
    name: name === uri ? '' : stripTags(name),
    type: mimeType !== undefined && mimeType.length <= MAX_TYPE_CHARS ? mimeType : '',
    size: size === undefined ? '' : describeSize(size),
    ref: stripTags(uri),
  });
}

function typeByName(path: string): string {
  return (mediaByExtension(extensionOf(path)) ?? UNKNOWN).types[0];
}

function extensionOf(path: string): string {
  return path.slice(path.lastIndexOf('.') + 1);
}

function text(value: string): ModelPart {
  return { kind: 'text', text: stripTags(value) };
}

/** Tag characters are invisible to users, but models read them as letters. */
function stripTags(value: string): string {
  return value.replace(/[\u{e0000}-\u{e0fff}]/gu, '');
}

interface SummaryValues {
  readonly kind: string;
  readonly name: string;
  readonly size: string;
  readonly type: string;
  readonly ref: string;
}

const DEFAULT_SUMMARY = '[{kind} {name}, {type}, {size}, {ref}]';
export const MAX_SUMMARY_TOKENS = 60;
const SHORTEST_SUMMARY = '[{kind}, {size}, {ref}]';

/** One line for a file that is not sent. Shortens the name, then the template, until the line is short enough. */
export function summarize(values: SummaryValues, template = DEFAULT_SUMMARY): string {
  for (const each of [template, DEFAULT_SUMMARY, SHORTEST_SUMMARY]) {
    const line = fitName(values, each);
    if (line !== undefined) return line;
  }
  return cutToTokens(fill(SHORTEST_SUMMARY, values));
}

/** Whether another template takes its place, however short the name is. */
export function isTooLong(template: string, values: SummaryValues): boolean {
  return fitName(values, template) === undefined;
}

/**
 * An upper bound for such lines with any current tokenizer: one token per sign, per two digits, per three letters of a
 * word and per two of other letters, and more outside of ASCII.
 */
export function tokensAtMost(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[A-Za-z]+|[0-9]+|[^A-Za-z0-9]/gu)) tokens += tokensOf(run);
  return tokens;
}

function tokensOf(run: string): number {
  if (/^[A-Z]?[a-z]+$/.test(run)) return Math.ceil(run.length / 3);
  if (/^[A-Za-z0-9]/.test(run)) return Math.ceil(run.length / 2);
  if (run === ' ') return 0;
  const bytes = Buffer.byteLength(run);
  return Math.max(1, bytes - 1);
}

function fitName(values: SummaryValues, template: string): string | undefined {
  const name = Array.from(values.name);
  for (let kept = name.length; kept >= 0; kept -= 1) {
    const shown = kept === name.length ? values.name : kept === 0 ? '' : `${name.slice(0, kept).join('')}…`;
    const line = fill(template, { ...values, name: shown });
    if (tokensAtMost(line) <= MAX_SUMMARY_TOKENS) return line;
  }
  return undefined;
}

/** The names in a template. */
export const SUMMARY_NAME = /\{(\w+)\}/g;

const VALUES: ReadonlyMap<string, (values: SummaryValues) => string> = new Map([
  ['kind', ({ kind }) => kind],
  ['name', ({ name }) => name],
  ['filename', ({ kind, name, ref }) => (/^\d+$/.test(name) ? `${kind}-${name}.${extensionOf(ref)}` : name)],
  ['type', ({ type }) => type],
  ['content_type', ({ ref }) => extensionOf(ref).toUpperCase()],
  ['size', ({ size }) => size],
  ['size_human', ({ size }) => size],
  ['ref', ({ ref }) => ref],
  ['artifact_id', ({ ref }) => ref],
]);

export const SUMMARY_NAMES: readonly string[] = [...VALUES.keys()];

/** Whether only the saved file has the value, whatever fields a tool's JSON has. */
export function isAssetName(name: string): boolean {
  return VALUES.has(name) && name !== 'name' && name !== 'filename';
}

export function unknownNames(template: string): readonly string[] {
  return [...template.matchAll(SUMMARY_NAME)].flatMap(([, name = '']) => (VALUES.has(name) ? [] : [name]));
}

/** An unknown name stays as it is written. A size has its unit. */
function fill(template: string, values: SummaryValues): string {
  const filled = template.replaceAll('{size} bytes', '{size}').replace(SUMMARY_NAME, (whole, key: string) => {
    const value = VALUES.get(key)?.(values);
    return value === undefined ? whole : oneLine(value);
  });
  return oneLine(filled)
    .replace(/(?:, )+(?=[,\]])/g, '')
    .replace(/ +(?=[,\]])/g, '');
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

function cutToTokens(text: string): string {
  let line = text;
  while (tokensAtMost(line) > MAX_SUMMARY_TOKENS) line = Array.from(line).slice(0, -1).join('');
  return line;
}

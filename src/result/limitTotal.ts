import { BUDGET } from '../base/budget.ts';
import { groupBy } from '../base/collections.ts';
import { escapeMarkers } from '../chat/format/escape.ts';
import type { AssetPart, ResultPart, TextPart } from '../ports/results.ts';
import { renderPart, renderToolResult } from './markdown.ts';

/** At most this much of one result is written into a chat, or sent to a model. */
export const MAX_RESULT_CHARS: number = BUDGET.resultChars;

/** For the error line, and for the message of the output schema, which is added later. */
const SPARE_CHARS = 1000;
const MAX_LEAD_CHARS = 150_000;
/** What remains is for the links and previews of the files with the rest. */
const MAX_SHORT_CHARS = 35_000;

export interface LimitedParts {
  readonly lead: readonly ResultPart[];
  /** Everything from the first part that does not fit, as one list for each audience. */
  readonly rest: readonly (readonly ResultPart[])[];
  /** The files, links and problems of the rest that are shown nevertheless, because they are short. */
  readonly shown: readonly ResultPart[];
}

/** Undefined if all parts fit into the chat. Counts what is written, with escapes and fences. */
export function limitTotal(parts: readonly ResultPart[]): LimitedParts | undefined {
  const costs = new Map(parts.map((part) => [part, writtenChars(part)]));
  const fitting = (from: readonly ResultPart[], chars: number) => {
    let left = chars;
    const over = from.findIndex((part) => {
      left -= costs.get(part) ?? 0;
      return left < 0;
    });
    return over < 0 ? from : from.slice(0, over);
  };
  const maxChars = MAX_RESULT_CHARS - SPARE_CHARS;
  if (fitting(parts, maxChars).length === parts.length) return undefined;
  // The sum of the costs is too high for many short parts.
  if (escapeMarkers(renderToolResult({ isError: false, parts })).length <= maxChars) return undefined;
  const lead = fitting(parts, MAX_LEAD_CHARS);
  const rest = parts.slice(lead.length);
  const short = rest.filter(({ kind }) => kind !== 'text' && kind !== 'data');
  const shown = fitting(short, MAX_SHORT_CHARS);
  const isNew = (part: ResultPart) => !shown.includes(part);
  const audiences = [...groupBy(rest, ({ audience }) => audience).values()];
  return { lead, rest: audiences.filter((each) => each.some(isNew)), shown };
}

/** The blank lines and the comment that may stand before a part. */
const DIVIDER_CHARS = 32;

/** What the part needs at most in any turn, as code or as plain text. */
function writtenChars(part: ResultPart): number {
  // A line of plain text may get two spaces.
  const spaces = part.kind === 'text' ? 2 * part.text.split('\n').length : 0;
  return escapeMarkers(renderPart(part)).length + spaces + DIVIDER_CHARS;
}

/** Texts before some of the parts, which are only in the file. */
export type Headings = ReadonlyMap<ResultPart, string>;

/** The text of a file in the asset folder with parts of one audience that are not in the chat. */
export function restText(parts: readonly ResultPart[], headings: Headings = new Map()): TextPart {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text') return only;
  if (parts.length === 1 && only?.kind === 'data') return { kind: 'text', text: only.json };
  const shown = parts.flatMap((part): readonly ResultPart[] => {
    const { audience: _, ...own } = part;
    const heading = headings.get(part);
    const written = own.kind === 'asset' ? linkedFromFolder(own) : own;
    return heading === undefined ? [written] : [{ kind: 'text', text: heading }, written];
  });
  const text = renderToolResult({ isError: false, parts: shown });
  return { kind: 'text', text, source: { uri: 'rest-of-result.md', mimeType: 'text/markdown' } };
}

function linkedFromFolder({ asset, ...part }: AssetPart): AssetPart {
  return { ...part, asset: { ...asset, path: `./${asset.path.slice(asset.path.lastIndexOf('/') + 1)}` } };
}

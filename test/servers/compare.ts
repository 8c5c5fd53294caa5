import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { field, isObject, parseJson, sameJson } from '../../src/base/json.ts';
import type { ResultPart } from '../../src/ports/results.ts';
import { readToolResult } from '../../src/result/markdown.ts';

/** How a result in a chat differs from what the server sent. */
export interface Difference {
  readonly blocks: number;
  readonly lost: readonly string[];
  readonly reordered: readonly string[];
  readonly changed: readonly string[];
}

/** Compares the raw result of a server with the body of its tool turn and the files beside it. */
export function compareResult(sent: unknown, markdown: string, folder: string): Difference {
  const content = field(sent, 'content');
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  const written = readToolResult(markdown).parts.map((part) => readWritten(part, folder));
  const places = findParts(blocks, written);
  const missing = blocks.filter((_, at) => places[at] === -1).map(describe);
  const structured = field(sent, 'structuredContent');
  return {
    blocks: blocks.length,
    // A block without a part is lost; one whose part has another content is changed.
    lost: [...(written.length < blocks.length ? missing : []), ...lostLeaves(structured, content, written)],
    changed: written.length < blocks.length ? [] : missing,
    reordered: blocks.filter((_, at) => isBefore(places, at)).map(describe),
  };
}

/** What a part of the chat holds: text, bytes, or an address. */
interface Written {
  readonly text?: string;
  readonly hash?: string;
  readonly uri?: string;
}

function readWritten(part: ResultPart, folder: string): Written {
  switch (part.kind) {
    case 'text':
      return { text: part.text };
    case 'data':
      return { text: part.json };
    case 'link':
      return { uri: part.uri };
    case 'asset': {
      const bytes = readFileSync(join(folder, part.asset.path));
      return { hash: hashOf(bytes), text: bytes.toString() };
    }
    case 'problem':
      return {};
  }
}

function isSame(block: unknown, { text, hash, uri }: Written): boolean {
  const sent = field(block, 'text') ?? field(field(block, 'resource'), 'text');
  const data = field(block, 'data') ?? field(field(block, 'resource'), 'blob') ?? dataUrlIn(sent);
  if (typeof data === 'string') return hash === hashOf(Buffer.from(data, 'base64'));
  if (field(block, 'type') === 'resource_link') return uri === field(block, 'uri');
  return typeof sent === 'string' && text !== undefined && isSameText(sent, text);
}

/** A text that is nothing but a data URL becomes a file. */
function dataUrlIn(text: unknown): string | undefined {
  return typeof text === 'string' ? /^data:[\w/+.-]+;base64,(\S+)$/.exec(text)?.[1] : undefined;
}

/** Line ends are `\n` in a chat, colors of a terminal are left out, and JSON may be laid out. */
function isSameText(sent: string, written: string): boolean {
  const [a, b] = [sent.replace(/\u001b\[[\d;]*m/g, ''), written].map((each) => each.replace(/\r\n?/g, '\n'));
  if (a === b) return true;
  return /^[[{]/.test(a ?? '') && sameJson(parseJson(a ?? ''), parseJson(b ?? ''));
}

/** The part of each block, or -1. The same content can occur several times. */
function findParts(blocks: readonly unknown[], written: readonly Written[]): readonly number[] {
  const used = new Set<number>();
  return blocks.map((block) => {
    const place = written.findIndex((each, at) => !used.has(at) && isSame(block, each));
    used.add(place);
    return place;
  });
}

/** Whether the part of a block comes before that of an earlier block. */
function isBefore(places: readonly number[], at: number): boolean {
  const place = places[at] ?? -1;
  return place !== -1 && places.slice(0, at).some((earlier) => earlier > place);
}

/** Every text in structured content is in the chat, in a file, or in a block that it repeats. */
function lostLeaves(structured: unknown, content: unknown, written: readonly Written[]): readonly string[] {
  const repeated = new Set(leavesOf(content));
  const texts = written.map(({ text = '', uri = '' }) => `${text}\n${uri}`).join('\n');
  const plain = normalize(texts);
  return leavesOf(structured).filter((leaf) => {
    const isFile = written.some(({ hash }) => hash === hashOf(Buffer.from(leaf, 'base64')));
    return (
      !repeated.has(leaf) &&
      !isFile &&
      !plain.includes(normalize(leaf)) &&
      !plain.includes(normalize(JSON.stringify(leaf).slice(1, -1)))
    );
  });
}

function normalize(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

function leavesOf(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(leavesOf);
  return isObject(value) ? Object.values(value).flatMap(leavesOf) : [];
}

function describe(block: unknown): string {
  return JSON.stringify(block).slice(0, 100);
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

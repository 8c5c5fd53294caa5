import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { AssetPart, ResultPart } from '../../../src/ports/results.ts';
import { readToolResult } from '../../../src/result/markdown.ts';
import type { CalledAndSent, SentBlock } from './connect.ts';

/**
 * Every block became exactly one part, in order; its bytes are a file with the same SHA-256; the folder has these files
 * and no others; the document contains no base64 and reads back.
 */
export async function assertEveryBlockKept({ sent, result, markdown, folder }: CalledAndSent): Promise<void> {
  const blockParts = result.parts.slice(0, sent.content.length);
  assert.equal(blockParts.length, sent.content.length);
  // Structured content comes last.
  assert.ok(result.parts.slice(blockParts.length).every(({ kind }) => kind === 'data'));
  assert.equal(result.isError, sent.isError === true);
  for (const [at, block] of sent.content.entries()) {
    const part = blockParts[at];
    const data = base64Of(block);
    if (data === undefined) assertSameWords(part, block);
    else {
      assert.equal(sha256(await readAsset(folder, part)), sha256(Buffer.from(data, 'base64')));
      assert.ok(!markdown.includes(data.slice(0, 60)), 'the document holds base64');
    }
  }
  const links = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
  // The same bytes twice are one file with two links.
  assert.deepEqual(await listAssets(folder), [...new Set(links)].toSorted());
  assert.deepEqual(readToolResult(markdown), result);
}

/** A name for each part: `text`, `link`, `data`, or the kind and extension of an asset. */
export function nameParts(parts: readonly ResultPart[]): readonly string[] {
  return parts.map((part) =>
    part.kind === 'asset' ? `${part.asset.kind} ${part.asset.path.replace(/^.*\./, '.')}` : part.kind,
  );
}

export function onlyAsset(parts: readonly ResultPart[]): AssetPart['asset'] {
  const assets = parts.filter((part) => part.kind === 'asset');
  assert.equal(assets.length, 1);
  return (assets[0] as AssetPart).asset;
}

export async function readAsset(folder: string, part: ResultPart | undefined): Promise<Buffer> {
  assert.ok(part?.kind === 'asset', `a file was expected, not ${JSON.stringify(part)}`);
  return readFile(join(folder, part.asset.path));
}

/** All files of a chat's `cmdassets/`, as links name them. */
export async function listAssets(folder: string): Promise<readonly string[]> {
  const names = await readdir(join(folder, 'cmdassets')).catch(() => []);
  return names.map((name) => `cmdassets/${name}`).toSorted();
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

function base64Of(block: SentBlock): string | undefined {
  return block.data ?? block.resource?.blob;
}

function assertSameWords(part: ResultPart | undefined, block: SentBlock): void {
  if (block.type === 'resource_link') {
    assert.ok(part?.kind === 'link');
    assert.deepEqual([part.uri, part.name], [block.uri, block.name]);
  } else if (part?.kind === 'data') assert.equal(part.json, block.text);
  else {
    assert.ok(part?.kind === 'text');
    assert.equal(part.text, block.text ?? block.resource?.text);
    assert.equal(part.source?.uri, block.resource?.uri);
  }
}

import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chatAttachments } from '../../../src/assets/chatFiles.ts';
import { ASSET_FOLDER, assetName } from '../../../src/base/assetNames.ts';
import { renderMarker } from '../../../src/chat/format/chat.ts';
import { estimateRequest } from '../../../src/model/request/estimate.ts';
import { buildRequest } from '../../../src/model/request/request.ts';
import type { AssetKind, ResultPart } from '../../../src/ports/results.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { inTemporaryFolder } from '../frame.ts';
import type { ChatRow, Target } from './chatReport.ts';

const RESULTS = 20;
const FEWER: Target = { kind: 'minTimes', times: 1_000 };

/** A kind of binary result. */
interface Sort {
  readonly kind: AssetKind;
  readonly extension: string;
  readonly mimeType: string;
  /** The first bytes. */
  readonly head: string;
  readonly mb: number;
}

const PDF: Sort = { kind: 'file', extension: 'pdf', mimeType: 'application/pdf', head: '%PDF-1.7\n', mb: 1 };
const ZIP: Sort = { kind: 'file', extension: 'zip', mimeType: 'application/zip', head: 'PK\x03\x04', mb: 3 };
const RIFF = 'RIFF\xff\xff\xff\x00WAVEfmt ';
const WAV: Sort = { kind: 'audio', extension: 'wav', mimeType: 'audio/wav', head: RIFF, mb: 2 };
const IHDR = '\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x07\x80\x00\x00\x04\x38\x08\x06\x00\x00\x00';
const PNG: Sort = { kind: 'image', extension: 'png', mimeType: 'image/png', head: IHDR, mb: 0.9 };

interface Case {
  readonly what: string;
  readonly sorts: readonly Sort[];
  readonly target?: Target;
}

const CASES: readonly Case[] = [
  { what: 'PDF, audio and ZIP of 1 to 3 MB, each sent as one line', sorts: [PDF, WAV, ZIP], target: FEWER },
  { what: 'PNG of 4 MB, too large to be sent as images', sorts: [{ ...PNG, mb: 4 }], target: FEWER },
  { what: 'PNG of 0.9 MB, sent as images', sorts: [PNG] },
];

/**
 * The tokens of a chat whose results are files, relative to the same chat with base64. The estimate of both counts a
 * token per six letters of base64; real tokenizers count more.
 */
export async function measureTokens(): Promise<readonly ChatRow[]> {
  const rows: ChatRow[] = [];
  for (const each of CASES) rows.push(await inTemporaryFolder((folder) => measureCase(folder, each)));
  return rows;
}

async function measureCase(folder: string, { what, sorts, target }: Case): Promise<ChatRow> {
  await mkdir(join(folder, ASSET_FOLDER));
  const results = Array.from({ length: RESULTS }, (_, at) => makeResult(at, sorts));
  for (const { path, bytes } of results) await writeFile(join(folder, path), bytes);
  const ours = await countTokens(folder, results.map(linked));
  const theirs = await countTokens(folder, results.map(inline));
  return { what: `20 results: ${what}`, ours, theirs, unit: 'tokens', against: 'base64 in the chat', target };
}

interface Result {
  readonly sort: Sort;
  readonly path: string;
  readonly bytes: Buffer;
}

function makeResult(at: number, sorts: readonly Sort[]): Result {
  const sort = sorts[at % sorts.length] ?? PDF;
  const bytes = randomBytes(sort.mb * 1_000_000);
  bytes.write(sort.head, 'latin1');
  const resultId = `bench${String(at).padStart(5, '0')}`;
  const name = assetName({ ...sort, time: new Date(2026, 10, 16), resultId, number: 1 });
  return { sort, path: `${ASSET_FOLDER}/${name}`, bytes };
}

function linked({ sort, path }: Result): ResultPart {
  return { kind: 'asset', asset: { kind: sort.kind, number: 1, path } };
}

/** As the tool sent it. */
function inline({ sort, bytes }: Result): ResultPart {
  const { kind, mimeType } = sort;
  return { kind: 'text', text: JSON.stringify({ type: kind, mimeType, data: bytes.toString('base64') }) };
}

async function countTokens(folder: string, results: readonly ResultPart[]): Promise<number> {
  const attachments = chatAttachments({ folder, roots: [folder] });
  const model = { name: 'bench', accepts: () => true };
  const { request } = await buildRequest(makeText(results), { model, tools: [], attachments });
  return estimateRequest(request).total;
}

function makeText(results: readonly ResultPart[]): string {
  const steps = results.map((part, at) => {
    const call = `\`\`\`tool_call files.export c${at + 1}\n{"page": ${at + 1}}\n\`\`\``;
    const body = renderToolResult({ isError: false, parts: [part] });
    return `${renderMarker('assistant')}\n${call}\n\n${renderMarker('tool', `files.export c${at + 1}`)}\n${body}\n`;
  });
  return [`${renderMarker('user')}\nExport all pages.\n`, ...steps].join('\n');
}

/** Runs in the extension host, started by `chatStream.ts`: writes replies and measures them. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { suite, test } from 'mocha';
import * as vscode from 'vscode';
import { ReplyRenderer } from '../../../src/chat/reply/render.ts';
import { logFailures } from '../../../src/loop/document.ts';
import { ReplyWriter } from '../../../src/loop/replyWriter.ts';
import { EditorDocument } from '../../../src/vscode/chat/editorDocument.ts';
import { openChat } from '../../host/suite/kit/workspace.ts';
import type { Stream } from './chatStream.ts';
import { makeChat, makeReply } from './chatTexts.ts';

const ROUNDS = 3;
const WARM_UP = { turns: 1, kb: 64 };
const CASES = [
  { turns: 1, kb: 1_024 },
  { turns: 1_000, kb: 64 },
];
const KB_PER_EDIT = 2;
/** After this long a case is not repeated, so that slow machines finish in time. */
const ENOUGH_MS = 90_000;
const TIMEOUT_MS = 280_000;

suite('bench', () => {
  test('streams', async function () {
    this.timeout(TIMEOUT_MS);
    await vscode.extensions.getExtension('filechat.filechat')?.activate();
    await writeBoth(WARM_UP, 'warmUp');
    const streams: Stream[] = [];
    for (const each of CASES) {
      const start = performance.now();
      for (let round = 0; round < ROUNDS && performance.now() - start < ENOUGH_MS; round += 1) {
        streams.push(...(await writeBoth(each, `${each.turns}-${round}`)));
        writeFileSync(process.env['FILECHAT_BENCH_STREAMS'] ?? '', JSON.stringify(streams));
      }
    }
  });
});

/**
 * In turns, so that a passing load does not affect only one. The files are not chats, so that lenses do not work on
 * them, and each name is used once, because editors remember the state of a file.
 */
async function writeBoth({ turns, kb }: Pick<Stream, 'turns' | 'kb'>, name: string): Promise<Stream[]> {
  const chat = makeChat(turns);
  const pieces = Array.from({ length: kb / KB_PER_EDIT }, (_, at) => makePiece(at));
  const edits = pieces.length;
  const bare = await timeIn(`bare-${name}.md`, chat, pieces, writeBare);
  const ours = await timeIn(`ours-${name}.md`, chat, pieces, writeReply);
  return [
    { way: 'bare', turns, kb, edits, ...bare },
    { way: 'ours', turns, kb, edits, ...ours },
  ];
}

function makePiece(at: number): string {
  const replies = Array.from({ length: KB_PER_EDIT }, (_, next) => makeReply(at * KB_PER_EDIT + next));
  return `${replies.join('\n\n')}\n\n`;
}

type Write = (document: vscode.TextDocument, pieces: readonly string[]) => Promise<void>;

async function timeIn(name: string, chat: string, pieces: readonly string[], write: Write) {
  const document = await openChat(name, chat);
  const cpu = process.cpuUsage();
  const start = performance.now();
  await write(document, pieces);
  const ms = performance.now() - start;
  const { user, system } = process.cpuUsage(cpu);
  assert.ok(
    document.getText().length > chat.length + pieces.join('').length * 0.9,
    'The reply is not in the document.',
  );
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  return { ms, cpuMs: (user + system) / 1_000 };
}

/** The bare work: each piece is inserted at the end, and the text is not read. */
async function writeBare(document: vscode.TextDocument, pieces: readonly string[]): Promise<void> {
  const editor = await vscode.window.showTextDocument(document);
  const options = { undoStopBefore: false, undoStopAfter: false };
  for (const piece of pieces) {
    const end = document.lineAt(document.lineCount - 1).range.end;
    assert.ok(await editor.edit((builder) => builder.insert(end, piece), options));
  }
}

/** A run without the pauses between the model's pieces. */
async function writeReply(document: vscode.TextDocument, pieces: readonly string[]): Promise<void> {
  const log = { info() {}, warn() {}, error() {} };
  const chat = new EditorDocument(document);
  const onLost = () => assert.fail('The reply lost its place.');
  const writer = new ReplyWriter({ document: logFailures(chat, log), id: 'bench', resumes: false, onLost });
  const renderer = new ReplyRenderer(() => assert.fail('There are no calls.'));
  for (const text of pieces) {
    writer.add(renderer.push({ kind: 'text', text }));
    await writer.flush();
  }
  writer.add(renderer.end());
  await writer.end({ kind: 'whole' });
  chat.dispose();
}

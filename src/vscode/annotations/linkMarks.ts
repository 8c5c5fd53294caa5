import { posix } from 'node:path';
import * as vscode from 'vscode';
import { OutsideFolders } from '../../assets/confined.ts';
import { groupBy } from '../../base/collections.ts';
import { messageOf } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import { sinceSummary } from '../../chat/edits/leaveOut.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { readSettings } from '../../chat/format/frontMatter.ts';
import type { LineRange } from '../../chat/format/lineRange.ts';
import { findLinks } from '../../chat/format/links.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { readLines } from '../../model/request/attachments.ts';
import { readOnce } from '../../model/request/readOnce.ts';
import { sentAs } from '../../model/request/sentAs.ts';
import type { AttachedFile } from '../../ports/document.ts';
import { chatOf, rangeOf } from '../chat/chatFiles.ts';
import { watchChats } from '../chat/watch.ts';
import type { EditorModels } from '../model/editorModels.ts';
import type { Conversations } from '../run/conversations.ts';

const DEBOUNCE_MS = 400;
const MAX_AGE_MS = 5_000;

/** Whether the file of a link is sent with the chat. */
interface LinkStatus {
  readonly isSent: boolean;
  readonly label: string;
  readonly reason: string;
}

interface Mark {
  readonly range: vscode.Range;
  readonly name: string;
  readonly status: LinkStatus;
}

/** Shows for each link in user turns whether its file is sent, and if not, why. */
export function showLinkMarks(conversations: Conversations, models: EditorModels): vscode.Disposable {
  const sent = createMark('filechat.attached');
  const unsent = createMark('filechat.notAttached');
  const find = rememberFiles(conversations);
  const watch = watchChats(DEBOUNCE_MS, async (document, signal) => {
    const editors = () => vscode.window.visibleTextEditors.filter((each) => each.document === document);
    const visible = editors().flatMap(({ visibleRanges }) => visibleRanges);
    const model = readSettings(chatOf(document)).settings.model;
    const marks = await Promise.all(
      linksIn(document, visible).map(async (link) => ({
        range: rangeOf(document, link),
        name: posix.basename(link.local ?? ''),
        status: await statusOf(link, (target) => find(document.uri, target), { models, model }),
      })),
    );
    if (signal.aborted) return;
    for (const editor of editors()) {
      editor.setDecorations(sent, decorations(document, marks, true));
      editor.setDecorations(unsent, decorations(document, marks, false));
    }
  });
  const updateAll = () => {
    for (const { document } of vscode.window.visibleTextEditors) watch.update(document);
  };
  updateAll();
  return vscode.Disposable.from(
    watch,
    sent,
    unsent,
    vscode.window.onDidChangeVisibleTextEditors(updateAll),
    vscode.window.onDidChangeTextEditorVisibleRanges(updateAll),
  );
}

/** Finds files, and remembers them for some seconds, by chat and target. */
function rememberFiles(conversations: Conversations) {
  const files = new Map<string, { readonly at: number; readonly file: Promise<AttachedFile> }>();
  return (chat: vscode.Uri, target: string): Promise<AttachedFile> => {
    const now = performance.now();
    for (const [key, { at }] of files) if (now - at > MAX_AGE_MS) files.delete(key);
    const key = `${chat.toString()}\n${target}`;
    const file = files.get(key)?.file ?? findOnce(conversations, chat, target);
    if (!files.has(key)) files.set(key, { at: now, file });
    return file;
  };
}

/** Several links to lines of a file read it once. */
async function findOnce(conversations: Conversations, chat: vscode.Uri, target: string) {
  const file = await conversations.attachments(chat).find(target);
  return { ...file, read: readOnce(file) };
}

/** The links of visible user turns to files, and to images on the web. */
function linksIn(document: vscode.TextDocument, ranges: readonly vscode.Range[]) {
  const text = document.getText();
  const visible = ranges.map(({ start, end }) => [document.offsetAt(start), document.offsetAt(end)]);
  const isVisible = ({ start, end }: Turn) =>
    visible.some(([from = 0, to = 0]) => start <= to && end >= from);
  const turns = sinceSummary(chatOf(document)).turns;
  return turns.flatMap((turn) => {
    if (turn.role !== 'user' || !isVisible(turn)) return [];
    return findLinks(turnBody(text, turn)).flatMap(({ offset, end, local, lines, isImage, target }) =>
      local !== undefined || (isImage && /^https?:/i.test(target))
        ? [{ start: turn.bodyStart + offset, end: turn.bodyStart + end, local, lines }]
        : [],
    );
  });
}

async function statusOf(
  { local, lines }: { readonly local: string | undefined; readonly lines: LineRange | undefined },
  find: (target: string) => Promise<AttachedFile>,
  context: { readonly models: EditorModels; readonly model: string | undefined },
): Promise<LinkStatus> {
  if (local === undefined) return notSent(vscode.l10n.t('nothing is loaded from the internet'));
  try {
    const file = await find(local);
    if (lines) return await linesStatus(file, lines);
    return file.isFolder ? folderStatus(file) : await fileStatus(file, context);
  } catch (error) {
    if (!(error instanceof OutsideFolders)) return notSent(messageOf(error));
    const reason = vscode.l10n.t('This file is outside the workspace. You are asked before it is sent.');
    return { isSent: false, label: vscode.l10n.t('? asks before sending'), reason };
  }
}

async function linesStatus(file: AttachedFile, range: LineRange): Promise<LinkStatus> {
  const found = await readLines(file, range);
  if (found.kind === 'problem') return notSent(found.reason);
  const { t } = vscode.l10n;
  const { first, last } = found.sent;
  const label = first === last ? t('✓ line {0}', first) : t('✓ lines {0}–{1}', first, last);
  return { isSent: true, label, reason: t('Only these lines of the file are sent with the turn.') };
}

function folderStatus({ size }: AttachedFile): LinkStatus {
  const reason = vscode.l10n.t(
    'The names and sizes of the files in this folder are sent with the turn, not their content.',
  );
  return { isSent: true, label: `✓ ${describeSize(size)}`, reason };
}

async function fileStatus(
  file: AttachedFile,
  { models, model }: { readonly models: EditorModels; readonly model: string | undefined },
): Promise<LinkStatus> {
  const { t } = vscode.l10n;
  const size = describeSize(file.size);
  const name = models.configOf(model)?.name ?? t('the model');
  const { accepts } = await models.abilitiesOf(model);
  const form = sentAs(file, { name, accepts });
  if (form.kind === 'named') {
    const only = t('The model gets only the name of this file: {0}.', form.reason);
    return { isSent: false, label: t('✗ name only'), reason: only };
  }
  const sent =
    form.kind === 'file'
      ? t('This file is sent with the turn: {0}, {1}.', file.mimeType, size)
      : t('This file is sent with the turn, as text: {0}.', size);
  return { isSent: true, label: `✓ ${size}`, reason: sent };
}

function notSent(reason: string): LinkStatus {
  const { t } = vscode.l10n;
  return { isSent: false, label: t('✗ not sent'), reason: t('This is not sent: {0}.', reason) };
}

function createMark(color: string): vscode.TextEditorDecorationType {
  return vscode.window.createTextEditorDecorationType({
    // Text that is typed at the end of the line stays before the note.
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedOpen,
    after: { color: new vscode.ThemeColor(color), margin: '0 0 0 0.6em', fontStyle: 'italic' },
  });
}

/**
 * The reasons are hovers of the links. The notes are at the ends of the lines, because the editor does not count them
 * when it wraps a line: text after a note would be outside the window.
 */
function decorations(
  document: vscode.TextDocument,
  marks: readonly Mark[],
  isSent: boolean,
): vscode.DecorationOptions[] {
  const lines = groupBy(marks, ({ range }) => range.end.line);
  return [...lines].flatMap(([line, inLine]) => {
    const mine = inLine.filter(({ status }) => status.isSent === isSent);
    if (mine.length === 0) return [];
    const { end } = document.lineAt(line).range;
    const notes = mine.map(({ name, status }) =>
      inLine.length === 1 ? status.label : `${name} ${status.label}`,
    );
    return [
      ...mine.map(({ range, status }) => ({
        range,
        hoverMessage: new vscode.MarkdownString().appendText(status.reason),
      })),
      { range: new vscode.Range(end, end), renderOptions: { after: { contentText: notes.join(', ') } } },
    ];
  });
}

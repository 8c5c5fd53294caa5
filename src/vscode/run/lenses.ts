import * as vscode from 'vscode';
import { replyStarts } from '../../chat/edits/fork.ts';
import type { Chat, Turn } from '../../chat/format/chat.ts';
import { cutReply, type NextAction, nextAction } from '../../chat/format/nextAction.ts';
import { turnBody } from '../../chat/format/parse.ts';
import { chatOf } from '../chat/openChats.ts';

export const CHAT_FILES: vscode.DocumentSelector = { pattern: '**/*.chat.md' };

/**
 * The editor asks for lenses a while after it is told to, and forgets that it was told when the text loses the focus
 * meanwhile, for instance to a dialog. So it is told again.
 */
const REMINDERS_MS = [1_000, 4_000];

/** Run, Stop, Resume, Regenerate and Fork above the turns that they are about. */
export class RunLens implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #isRunning: (chat: vscode.Uri) => boolean;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly onDidChangeCodeLenses = this.#changed.event;
  #reminders: NodeJS.Timeout[] = [];

  constructor(isRunning: (chat: vscode.Uri) => boolean) {
    this.#isRunning = isRunning;
  }

  dispose(): void {
    for (const timer of this.#reminders) clearTimeout(timer);
    this.#changed.dispose();
  }

  /** A run has begun or ended. */
  refresh(): void {
    for (const timer of this.#reminders) clearTimeout(timer);
    this.#reminders = REMINDERS_MS.map((ms) => setTimeout(() => this.#changed.fire(), ms));
    this.#changed.fire();
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const text = document.getText();
    const uri = document.uri;
    return planLenses(text, chatOf(document), this.#isRunning(uri)).map((lens) => {
      const position = document.positionAt(lens.offset);
      return new vscode.CodeLens(new vscode.Range(position, position), {
        // The editor lays a lens out as a row, in which a plain space behind an icon has no width.
        title: titleOf(lens).replace(') ', ')\u00a0'),
        tooltip: tooltipOf(lens),
        command: COMMANDS[lens.kind],
        arguments: [{ uri, line: position.line }],
      });
    });
  }
}

const COMMANDS: Readonly<Record<LensKind, string>> = {
  run: 'filechat.run',
  runTools: 'filechat.run',
  editArguments: 'filechat.editArguments',
  resume: 'filechat.resume',
  stop: 'filechat.stop',
  regenerate: 'filechat.regenerate',
  fork: 'filechat.fork',
};

function titleOf({ kind, count = 1 }: PlannedLens): string {
  switch (kind) {
    case 'run':
      return vscode.l10n.t('$(play) Run');
    case 'runTools':
      return count === 1
        ? vscode.l10n.t('$(play) Run 1 tool call')
        : vscode.l10n.t('$(play) Run {0} tool calls', count);
    case 'editArguments':
      return vscode.l10n.t('$(edit) Edit arguments');
    case 'resume':
      return vscode.l10n.t('$(debug-continue) Resume');
    case 'stop':
      return vscode.l10n.t('$(debug-stop) Stop');
    case 'regenerate':
      return vscode.l10n.t('$(refresh) Regenerate');
    case 'fork':
      return vscode.l10n.t('$(repo-forked) Fork');
  }
}

function tooltipOf({ kind }: PlannedLens): string {
  switch (kind) {
    case 'run':
      return vscode.l10n.t('Ask the model');
    case 'runTools':
      return vscode.l10n.t('Make the calls of this turn; you are asked before');
    case 'editArguments':
      return vscode.l10n.t('Put the cursor into the arguments of the call');
    case 'resume':
      return vscode.l10n.t('Go on where the reply was cut');
    case 'stop':
      return vscode.l10n.t('Stop at once and keep what has come');
    case 'regenerate':
      return vscode.l10n.t('Remove this reply and ask for another one; Undo brings it back');
    case 'fork':
      return vscode.l10n.t('Go on from here in a new chat');
  }
}

type LensKind = 'run' | 'runTools' | 'editArguments' | 'resume' | 'stop' | 'regenerate' | 'fork';

/** One thing to click above a turn. */
interface PlannedLens {
  /** Where the turn begins. */
  readonly offset: number;
  readonly kind: LensKind;
  /** How many calls would be made. */
  readonly count?: number;
}

/**
 * What the chat asks for next stands at the last turn that says something; a reply can be had again, and an earlier
 * question forked. While it runs, the rows above the older turns stay: a text that jumps cannot be read.
 */
export function planLenses(text: string, chat: Chat, running: boolean): readonly PlannedLens[] {
  const { turns } = chat;
  const speaker = speakerStart(text, chat);
  const next: readonly Face[] = running ? [{ kind: 'stop' }] : nextLenses(text, chat);
  const forks = turns.flatMap(({ start }, at) =>
    isAnswered(turns, at) ? [{ offset: start, kind: FORK }] : [],
  );
  const cut = running ? undefined : cutReply(turns);
  const resume = cut && cut.start !== speaker ? [{ offset: cut.start, kind: RESUME }] : [];
  const again = repliesToOffer(text, chat, running).map(({ start }) => ({ offset: start, kind: REGENERATE }));
  return [
    ...forks.slice(-MAX_OF_A_KIND),
    ...resume,
    ...next.map((face) => ({ offset: speaker, ...face })),
    ...again.slice(-MAX_OF_A_KIND),
  ];
}

/** Where the last turn begins that says something. */
export function speakerStart(text: string, { turns }: Chat): number {
  return turns.findLast((turn) => speaks(text, turn))?.start ?? 0;
}

/**
 * The editor keeps elements in its page for every lens, also far from what is seen, and lays all of them out whenever
 * a chat is opened or resized. The turns before these have the commands, and no lenses.
 */
const MAX_OF_A_KIND = 50;

type Face = Omit<PlannedLens, 'offset'>;

const FORK: LensKind = 'fork';
const REGENERATE: LensKind = 'regenerate';
const RESUME: LensKind = 'resume';
const NEXT: Readonly<Record<NextAction['kind'], LensKind | undefined>> = {
  wait: undefined,
  reply: 'run',
  resume: 'resume',
  // Every call was sent already, and a run only says what became of them.
  runTools: 'run',
};

function nextLenses(text: string, chat: Chat): readonly Face[] {
  const action = nextAction(text, chat);
  if (action.kind === 'runTools' && action.calls.length > 0) {
    return [{ kind: 'runTools', count: action.calls.length }, { kind: 'editArguments' }];
  }
  const kind = NEXT[action.kind];
  return kind ? [{ kind }] : [];
}

/** The reply that is being written cannot be had again yet, and one without words only waits for them. */
function repliesToOffer(text: string, chat: Chat, running: boolean): readonly Turn[] {
  const isQuestion = (turn: Turn) => turn.role === 'user' && speaks(text, turn);
  const asked = running ? (chat.turns.findLast(isQuestion)?.start ?? 0) : Number.POSITIVE_INFINITY;
  const from = chat.turns.find(isQuestion)?.start ?? Number.POSITIVE_INFINITY;
  return replyStarts(chat).filter(
    (turn) => turn.start > from && turn.start < asked && turnBody(text, turn).trim() !== '',
  );
}

/** An empty user turn only waits for text. */
function speaks(text: string, turn: Turn): boolean {
  return turn.role === 'assistant' || (turn.role === 'user' && turnBody(text, turn).trim() !== '');
}

/** A question that an assistant has answered, with or without the help of tools. */
function isAnswered(turns: readonly Turn[], at: number): boolean {
  if (turns[at]?.role !== 'user') return false;
  let next = at + 1;
  while (turns[next]?.role === 'tool' || turns[next]?.role === 'system') next += 1;
  return turns[next]?.role === 'assistant';
}

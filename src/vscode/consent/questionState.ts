import { describeSize } from '../../base/size.ts';
import { parseArguments, type WrittenCall } from '../../chat/format/callInfo.ts';
import type { Chat } from '../../chat/format/chat.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { isSameCall, pendingCalls } from '../../chat/format/nextAction.ts';
import type { GivenFile, ToolCall, ToolInfo } from '../../ports/tools.ts';
import { t } from '../ui/words.ts';
import { type AllowedTool, isRedefined } from './allowedTool.ts';

/** A call in a chat that waits for permission. */
export interface CallQuestion {
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  /** The arguments as they were written when the user was asked. */
  readonly written: string;
  /** The rules of the chat when the user was asked; see `rulesText`. */
  readonly rules: string;
  readonly files: readonly GivenFile[];
  /** A line for each file. */
  readonly notes: readonly string[];
  /** Set if the tool has changed since it was allowed. */
  readonly before?: AllowedTool | undefined;
}

/** The part of a chat that says which tools may be used. */
export function rulesText({ frontMatter, preamble }: Chat): string {
  return JSON.stringify([frontMatter, preamble]);
}

type QuestionState =
  | { readonly kind: 'waiting'; readonly at: WrittenCall }
  /** Its arguments have changed and may be invalid. */
  | { readonly kind: 'edited'; readonly at: WrittenCall; readonly problem?: string }
  /** The call was deleted or renamed, or the rules of the chat were changed. */
  | { readonly kind: 'withdrawn' };

export function stateOf({ call, written, rules }: CallQuestion, chat: Chat): QuestionState {
  const at = rulesText(chat) === rules ? findPendingCall(chat, call) : undefined;
  if (!at) return { kind: 'withdrawn' };
  if (at.argumentsText === written) return { kind: 'waiting', at };
  const read = parseArguments(at.argumentsText);
  return read.ok ? { kind: 'edited', at } : { kind: 'edited', at, problem: read.message };
}

function findPendingCall({ turns }: Chat, call: ToolCall): WrittenCall | undefined {
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const found = pendingCalls(turns, at).find((each) => isSameCall(each, call));
    if (found) return found;
  }
  return undefined;
}

/** A changed tool is not allowed together with others: its warning has to be seen. */
export function canAllowTogether<T extends CallQuestion>(questions: readonly T[]): readonly T[] {
  return questions.filter(({ before }) => before === undefined);
}

export type CallLensKind = 'allow' | 'always' | 'showChanges' | 'edit' | 'decline' | 'allowAll';

interface PlannedCallLens {
  readonly offset: number;
  readonly kind: CallLensKind;
  readonly id: string;
  /** For `allowAll`: the number of calls. */
  readonly count: number;
}

export function planCallLenses(chat: Chat, questions: readonly CallQuestion[]): readonly PlannedCallLens[] {
  const count = canAllowTogether(questions).length;
  return questions.flatMap((question) => {
    const state = stateOf(question, chat);
    if (state.kind === 'withdrawn') return [];
    const { tool, before, call } = question;
    const isChanged = before !== undefined && isRedefined(tool, before);
    const kinds: readonly (CallLensKind | false)[] = [
      isChanged && 'showChanges',
      'allow',
      'always',
      'edit',
      'decline',
      count > 1 && 'allowAll',
    ];
    return kinds
      .filter((kind) => kind !== false)
      .map((kind) => ({ offset: state.at.start, kind, id: call.id, count }));
  });
}

interface QuestionLine {
  readonly text: string;
  readonly isWarning: boolean;
}

/** What would leave the machine, and what is special, after the name in the line of the call: a long note is cut off. */
export function describeQuestion(
  { tool, files, before }: CallQuestion,
  state: Exclude<QuestionState, { readonly kind: 'withdrawn' }>,
  shortPath: (path: string) => string,
): QuestionLine {
  const isEdited = state.kind === 'edited';
  const problem = isEdited && state.problem !== undefined;
  const parts = [
    before &&
      (isRedefined(tool, before)
        ? t('changed since you allowed it')
        : t('its server changed since you allowed it')),
    ...(isEdited ? [] : describeFiles(files, shortPath)),
    tool.destructive && t('may delete or overwrite data'),
    isEdited && (problem ? t('the arguments are not valid JSON') : t('arguments edited')),
  ].filter((part) => part);
  const text = showInvisible(parts.join(' · ') || t('asks for permission'));
  return { text, isWarning: before !== undefined || tool.destructive === true || problem };
}

const MAX_FILES = 3;

function describeFiles(files: readonly GivenFile[], shortPath: (path: string) => string): readonly string[] {
  const list = (given: readonly GivenFile[], withSize: boolean) => {
    const names = given.slice(0, MAX_FILES).map(({ path, bytes }) => {
      const name = shortPath(path);
      return withSize ? `${name} (${describeSize(bytes)})` : name;
    });
    const more = given.length - names.length;
    return more > 0 ? t('{0} and {1} more', names.join(', '), more) : names.join(', ');
  };
  const contents = files.filter(({ isContent }) => isContent);
  const paths = files.filter(({ isContent }) => !isContent);
  return [
    ...(contents.length > 0 ? [t('sends {0}', list(contents, true))] : []),
    ...(paths.length > 0 ? [t('sends the path of {0}', list(paths, false))] : []),
  ];
}

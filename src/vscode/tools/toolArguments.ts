import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { ArgumentHelp } from '../../mcp/callArguments/help.ts';
import { parseReference, renderFileReference } from '../../mcp/fileArguments/reference.ts';
import { expectedFiles } from '../../mcp/fileArguments/referencedFiles.ts';
import { type ArgumentQuestion, type CheckedAnswer, checkAnswer } from '../../mcp/schema/answer.ts';
import { argumentQuestions, withPatterns } from '../../mcp/schema/arguments.ts';
import type { PathStep } from '../../mcp/schema/walk.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { activeChat } from '../chat/chatFiles.ts';
import { describeProblem } from '../completion/argumentHelp.ts';
import { askInNotice } from '../consent/noticeQuestion.ts';
import type { InputAction } from '../ui/askInput.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type Answers, askQuestions } from '../ui/wizard.ts';

interface ArgumentsAsked {
  /** Arguments that are not asked for. */
  readonly given: Answers;
  /** Answers that are filled in at first. */
  readonly initial: Answers;
  readonly canGoBack: boolean;
}

/** Asks for the arguments of a tool by its schema. Resolves to undefined when the user cancels. */
export async function askArguments(
  tool: ToolInfo,
  { given, initial, canGoBack }: ArgumentsAsked,
): Promise<Answers | 'back' | undefined> {
  const filesFor = ({ name }: ArgumentQuestion) => expectedFiles(tool.inputSchema, name);
  const missing = argumentQuestions(tool.inputSchema).filter(({ name }) => !Object.hasOwn(given, name));
  let isBack = false;
  const answers = await askQuestions(await withPatterns(missing), {
    title: plainMessage(tool.tool),
    initial,
    check: (question, text) =>
      (filesFor(question) && checkReference(text.trim())) ?? checkAnswer(question, text),
    checkDeep: deepCheck(tool),
    actionsFor: (question, title) => {
      const files = filesFor(question);
      return files ? [fileAction(title, files === 'many')] : editorActions(question);
    },
    ...(canGoBack && {
      onBack: () => {
        isBack = true;
      },
    }),
  });
  return isBack ? 'back' : answers;
}

/** Checks nested values by the schema of the tool; the JSON language service is loaded when it is needed. */
function deepCheck(
  tool: ToolInfo,
): (question: ArgumentQuestion, text: string) => Promise<string | undefined> {
  let loaded: Promise<ArgumentHelp | undefined> | undefined;
  return async (question, text) => {
    const { name } = question;
    const answer = checkAnswer(question, text);
    // Otherwise it is a reference to a file, or text where the schema allows it.
    if (!answer.ok || typeof answer.value !== 'object') return undefined;
    loaded ??= import('../../mcp/callArguments/help.ts').then(({ ArgumentHelp }) =>
      ArgumentHelp.create(tool.inputSchema),
    );
    const help = await loaded;
    const whole = `{${JSON.stringify(name)}: ${JSON.stringify(answer.value)}}`;
    // Problems at the start concern other arguments.
    const problem = (await help?.check(whole))?.find(({ start }) => start > 0);
    if (!help || !problem) return undefined;
    const steps = help.at(whole, problem.start)?.steps ?? [name];
    return `${printPath(steps)}: ${describeProblem(problem)}`;
  };
}

/** `address.street` or `items[0].name`. */
function printPath(steps: readonly PathStep[]): string {
  return steps
    .map((step, at) => (typeof step === 'number' ? `[${step}]` : at === 0 ? step : `.${step}`))
    .join('');
}

/** A file reference is replaced before the call, so it need not match the schema. Undefined for other text. */
function checkReference(text: string): CheckedAnswer | undefined {
  const read = parseReference(text, true);
  if (read?.kind === 'refused') return { ok: false, message: `${text}: ${read.reason}.` };
  return read?.kind === 'reference' ? { ok: true, value: text } : undefined;
}

/** A box has only one line. */
function editorActions({ name, kind }: ArgumentQuestion): readonly InputAction[] {
  if (kind !== 'text' && kind !== 'json') return [];
  const language = kind === 'json' ? 'json' : 'plaintext';
  const run = (content: string) => writeInEditor(name, { content, language });
  return [
    {
      icon: 'go-to-file',
      tooltip: vscode.l10n.t('Write in an Editor…'),
      isAnswer: true,
      isElsewhere: true,
      run,
    },
  ];
}

/** Lets the user write a long text in an editor. Resolves to undefined if the user cancels or closes the editor. */
async function writeInEditor(
  name: string,
  { content, language }: { readonly content: string; readonly language: 'plaintext' | 'json' },
): Promise<string | undefined> {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, { preview: false });
  const useText = vscode.l10n.t('Use Text');
  const message = vscode.l10n.t(
    'Write the value of “{0}” in the editor, then choose Use Text.',
    plainMessage(name),
  );
  const until = (end: () => void) =>
    vscode.workspace.onDidCloseTextDocument((each) => each === document && end());
  // It stays while the user writes. After Cancel, what was written stays in the editor.
  if ((await askInNotice({ message, answers: [useText], until })) !== useText) return undefined;
  const text = document.getText();
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  return text;
}

function fileAction(title: string, canSelectMany: boolean): InputAction {
  const folder = chatFolder();
  const tooltip = vscode.l10n.t('Choose a file…');
  return { icon: 'folder-opened', tooltip, run: () => chooseFiles(title, canSelectMany, folder) };
}

async function chooseFiles(
  title: string,
  canSelectMany: boolean,
  folder: vscode.Uri | undefined,
): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title,
    canSelectMany,
    openLabel: vscode.l10n.t('Choose'),
    ...(folder ? { defaultUri: folder } : {}),
  });
  const references = chosen?.map((uri) => referTo(uri, folder)) ?? [];
  return references.length > 1 ? JSON.stringify(references) : references[0];
}

/** Relative to the chat if both are in one workspace folder, so that the folder can be moved. */
function referTo(uri: vscode.Uri, folder: vscode.Uri | undefined): string {
  const relative = folder && posix.relative(folder.path, uri.path);
  const root = vscode.workspace.getWorkspaceFolder(uri);
  const isNear = folder && root !== undefined && vscode.workspace.getWorkspaceFolder(folder) === root;
  return renderFileReference(
    relative && (isNear || !relative.startsWith('../../')) ? relative : `//${uri.path}`,
  );
}

function chatFolder(): vscode.Uri | undefined {
  const chat = activeChat()?.uri;
  if (chat?.scheme === 'file') return vscode.Uri.joinPath(chat, '..');
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}

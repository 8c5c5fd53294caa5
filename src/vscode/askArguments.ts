import { posix } from 'node:path';
import * as vscode from 'vscode';
import { checkAnswer, printAnswer } from '../mcp/answer.ts';
import { askableArguments, fillDefaults } from '../mcp/arguments.ts';
import { filesWanted } from '../mcp/fileArguments/plan.ts';
import { readReference, renderFileReference } from '../mcp/fileArguments/reference.ts';
import type { Answer, ArgumentQuestion } from '../mcp/question.ts';
import type { ToolInfo } from '../ports.ts';
import { activeChat } from './chatFiles.ts';
import { plainMessage } from './plainMessage.ts';

type Arguments = Readonly<Record<string, unknown>>;
type Reply = { readonly kind: 'answer'; readonly text: string } | { readonly kind: 'back' | 'cancel' };

/**
 * Asks for each argument by its schema, with a way back. Resolves to nothing when the user gives up. Chosen
 * files are written as they are seen from `folder`, which is that of the chat.
 */
export async function askArguments(
  tool: ToolInfo,
  given: Arguments = {},
  folder = folderOfChat(),
): Promise<Arguments | undefined> {
  const filesFor = (name: string) => filesWanted(tool.inputSchema, name);
  const questions = askableArguments(tool.inputSchema).filter(({ name }) => !Object.hasOwn(given, name));
  const answers = new Map<string, string>();
  for (let step = 0; step < questions.length; ) {
    const question = questions[step];
    if (!question) break;
    const title = `${plainMessage(tool.tool)} (${step + 1}/${questions.length})`;
    const files = filesFor(question.name);
    const text = answers.get(question.name);
    const reply = await ask(question, { title, canGoBack: step > 0, text, files, folder });
    if (reply.kind === 'cancel') return undefined;
    if (reply.kind === 'answer') answers.set(question.name, reply.text);
    step += reply.kind === 'back' ? -1 : 1;
  }
  return fillDefaults(tool.inputSchema, { ...given, ...readAnswers(questions, answers, filesFor) });
}

/** `Object.fromEntries` keeps even a name like `__proto__` an ordinary one. */
function readAnswers(
  questions: readonly ArgumentQuestion[],
  answers: ReadonlyMap<string, string>,
  filesFor: (name: string) => FilesWanted,
): Arguments {
  return Object.fromEntries(
    questions.flatMap((question) => {
      const answer = check(question, answers.get(question.name) ?? '', filesFor(question.name));
      return answer.ok && answer.value !== undefined ? [[question.name, answer.value]] : [];
    }),
  );
}

type FilesWanted = ReturnType<typeof filesWanted>;

/** A reference stands for what the schema asks for, so it has not to look like it. */
function check(question: ArgumentQuestion, text: string, files: FilesWanted): Answer {
  const reference = text.trim();
  const read = files === undefined ? undefined : readReference(reference, true);
  if (read?.kind === 'refused') return { ok: false, message: `${reference}: ${read.reason}.` };
  return read?.kind === 'reference' ? { ok: true, value: reference } : checkAnswer(question, text);
}

interface Asking {
  readonly title: string;
  readonly canGoBack: boolean;
  /** What was answered before the user came back to it. */
  readonly text: string | undefined;
  readonly files: FilesWanted;
  readonly folder: vscode.Uri | undefined;
}

function ask(question: ArgumentQuestion, asking: Asking): Promise<Reply> {
  const input =
    question.kind === 'choice' || question.kind === 'yesNo'
      ? choiceInput(question, asking)
      : textInput(question, asking);
  input.title = asking.title;
  input.ignoreFocusOut = true;
  input.buttons = [
    ...(asking.canGoBack ? [vscode.QuickInputButtons.Back] : []),
    ...(asking.files ? [{ iconPath: new vscode.ThemeIcon('folder-opened'), tooltip: CHOOSE_FILE }] : []),
  ];
  // The file dialog of a browser takes the place of this input, which then must not count as given up.
  let choosing = false;
  const chooseFile = async () => {
    choosing = true;
    input.value = (await chooseFiles(asking)) ?? input.value;
    choosing = false;
    input.show();
    input.accepted();
  };
  const reply = new Promise<Reply>((resolve, reject) => {
    input.onDidTriggerButton((button) =>
      button === vscode.QuickInputButtons.Back ? resolve({ kind: 'back' }) : chooseFile().catch(reject),
    );
    input.onDidHide(() => choosing || resolve({ kind: 'cancel' }));
    input.onDidAccept(() => {
      const text = input.accepted();
      if (text !== undefined) resolve({ kind: 'answer', text });
    });
  });
  input.show();
  return reply.finally(() => input.dispose());
}

const CHOOSE_FILE = 'Choose a file…';

async function chooseFiles({ title, files, folder }: Asking): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title,
    canSelectMany: files === 'many',
    openLabel: 'Choose',
    ...(folder ? { defaultUri: folder } : {}),
  });
  const references = chosen?.map((uri) => referTo(uri, folder)) ?? [];
  return references.length > 1 ? JSON.stringify(references) : references[0];
}

/** From the chat where both are in one folder of the workspace, so that the chat can move with it. */
function referTo(uri: vscode.Uri, folder: vscode.Uri | undefined): string {
  const way = folder && posix.relative(folder.path, uri.path);
  const home = vscode.workspace.getWorkspaceFolder(uri);
  const near = folder && home !== undefined && vscode.workspace.getWorkspaceFolder(folder) === home;
  return renderFileReference(way && (near || !way.startsWith('../')) ? way : `//${uri.path}`);
}

/** Where the chat in front is, or where a new one would be made. */
function folderOfChat(): vscode.Uri | undefined {
  const chat = activeChat()?.uri;
  if (chat?.scheme === 'file') return vscode.Uri.joinPath(chat, '..');
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}

/** What a list and an input box have in common, and the answer once it is a good one. */
type Input = (vscode.QuickPick<ChoiceItem> | vscode.InputBox) & { accepted(): string | undefined };

interface ChoiceItem extends vscode.QuickPickItem {
  readonly text: string;
}

const LEFT_OUT = '$(circle-slash) Leave out';

function choiceInput(question: ArgumentQuestion, { text }: Asking): Input {
  const pick = vscode.window.createQuickPick<ChoiceItem>();
  const preset = text ?? presetOf(question);
  const choices =
    question.kind === 'choice'
      ? question.choices.map((choice) => ({ label: plainMessage(choice.label), text: choice.text }))
      : [
          { label: 'Yes', text: printAnswer(question, true) },
          { label: 'No', text: printAnswer(question, false) },
        ];
  pick.items = question.required ? choices : [...choices, { label: LEFT_OUT, text: '' }];
  const preselected = pick.items.find((item) => item.text === preset);
  // An empty list would leave no row to accept with Enter.
  if (preselected) pick.activeItems = [preselected];
  pick.placeholder = describe(question);
  return Object.assign(pick, { accepted: () => pick.activeItems[0]?.text });
}

function textInput(question: ArgumentQuestion, { text, files }: Asking): Input {
  const box = vscode.window.createInputBox();
  box.value = text ?? presetOf(question);
  box.prompt = describe(question);
  box.placeholder =
    question.kind === 'json' ? question.example : question.required ? '' : 'Leave empty to leave it out';
  const isGood = () => {
    const answer = check(question, box.value, files);
    box.validationMessage = answer.ok ? undefined : plainMessage(answer.message);
    return answer.ok;
  };
  box.onDidChangeValue(isGood);
  return Object.assign(box, { accepted: () => (isGood() ? box.value : undefined) });
}

/** The default if there is one; for required JSON the example, which is easier to change than to invent. */
function presetOf(question: ArgumentQuestion): string {
  if (question.default !== undefined) return printAnswer(question, question.default);
  return question.kind === 'json' && question.required ? question.example : '';
}

function describe(question: ArgumentQuestion): string {
  const name = question.title === question.name ? question.name : `${question.title} (${question.name})`;
  const about = question.description ? `: ${question.description.replaceAll('\n', ' ')}` : '';
  return plainMessage(`${name}${question.required ? '' : ', optional'}${about}`);
}

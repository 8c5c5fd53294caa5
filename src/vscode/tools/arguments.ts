import { posix } from 'node:path';
import * as vscode from 'vscode';
import { expectedFiles } from '../../mcp/fileArguments/plan.ts';
import { parseReference, renderFileReference } from '../../mcp/fileArguments/reference.ts';
import { checkAnswer } from '../../mcp/schema/answer.ts';
import { argumentQuestions, fillDefaults } from '../../mcp/schema/arguments.ts';
import type { ArgumentQuestion, CheckedAnswer } from '../../mcp/schema/question.ts';
import type { ToolInfo } from '../../ports/tools.ts';

import { activeChat } from '../chat/chatFiles.ts';
import { type Answers, askQuestions } from '../ui/askQuestions.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/**
 * Asks for each argument by its schema, with a way back. Resolves to nothing when the user gives up. Chosen
 * files are written as they are seen from `folder`, which is that of the chat.
 */
export async function askArguments(
  tool: ToolInfo,
  given: Answers = {},
  folder = folderOfChat(),
): Promise<Answers | undefined> {
  const filesFor = ({ name }: ArgumentQuestion) => expectedFiles(tool.inputSchema, name);
  const questions = argumentQuestions(tool.inputSchema).filter(({ name }) => !Object.hasOwn(given, name));
  const answers = await askQuestions(questions, {
    title: plainMessage(tool.tool),
    check: (question, text) => check(question, text, filesFor(question)),
    chooseFile: (question, title) => {
      const files = filesFor(question);
      return files && (() => chooseFiles({ title, files, folder }));
    },
  });
  return answers && fillDefaults(tool.inputSchema, { ...given, ...answers });
}

type FilesWanted = ReturnType<typeof expectedFiles>;

/** A reference stands for what the schema asks for, so it has not to look like it. */
function check(question: ArgumentQuestion, text: string, files: FilesWanted): CheckedAnswer {
  const reference = text.trim();
  const read = files === undefined ? undefined : parseReference(reference, true);
  if (read?.kind === 'refused') return { ok: false, message: `${reference}: ${read.reason}.` };
  return read?.kind === 'reference' ? { ok: true, value: reference } : checkAnswer(question, text);
}

interface Choosing {
  readonly title: string;
  readonly files: FilesWanted;
  readonly folder: vscode.Uri | undefined;
}

async function chooseFiles({ title, files, folder }: Choosing): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title,
    canSelectMany: files === 'many',
    openLabel: vscode.l10n.t('Choose'),
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
  return renderFileReference(way && (near || !way.startsWith('../../')) ? way : `//${uri.path}`);
}

/** Where the chat in front is, or where a new one would be made. */
function folderOfChat(): vscode.Uri | undefined {
  const chat = activeChat()?.uri;
  if (chat?.scheme === 'file') return vscode.Uri.joinPath(chat, '..');
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}

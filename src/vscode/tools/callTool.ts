import { posix } from 'node:path';
import * as vscode from 'vscode';
import type { ToolRequest } from '../../listener.ts';
import { expectedFiles } from '../../mcp/fileArguments/files.ts';
import { parseReference, renderFileReference } from '../../mcp/fileArguments/reference.ts';
import { type ArgumentQuestion, type CheckedAnswer, checkAnswer } from '../../mcp/schema/answer.ts';
import {
  argumentQuestions,
  fillDefaults,
  missingArguments,
  withPatterns,
} from '../../mcp/schema/arguments.ts';
import type { ToolHost, ToolInfo, ToolList } from '../../ports/tools.ts';
import { activeChat } from '../chat/chatFiles.ts';
import { type Answers, askQuestions } from '../ui/askQuestions.ts';
import { type Fields, readObject, readString } from '../ui/commandArguments.ts';
import { pickGrowing, type Row } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';

/** The call that the fields name; the user picks what is missing. */
export async function readToolRequest(
  fields: Fields,
  tools: ToolHost,
  servers: () => Promise<readonly string[]>,
): Promise<ToolRequest | undefined> {
  const server = readString(fields, 'server');
  const tool = readString(fields, 'tool');
  const given = readObject(fields, 'arguments') ?? {};
  if (server === undefined || tool === undefined) {
    const picked = await pickTool(tools, server === undefined ? await servers() : [server]);
    return picked && askArguments(picked, given);
  }
  const message = plainMessage(vscode.l10n.t('Asking {0} for its tools', server));
  const list = await withNotice(message, (signal) => tools.listTools(server, signal));
  if (!list) return undefined;
  const info = list.tools.find((each) => each.tool === tool);
  // The turn loop reports an unknown tool.
  if (!info || missingArguments(info.inputSchema, given).length === 0) {
    return { server, tool, arguments: given };
  }
  return askArguments(info, given);
}

function pickTool(tools: ToolHost, servers: readonly string[]): Promise<ToolInfo | undefined> {
  const texts = {
    title: vscode.l10n.t('Filechat: Call Tool'),
    waiting: vscode.l10n.t('Asking the servers for their tools…'),
    question: vscode.l10n.t('Which tool?'),
    nothing: vscode.l10n.t(
      'There are no tools. Add a server to the setting filechat.mcpServers or to .vscode/mcp.json.',
    ),
  };
  return pickGrowing<ToolInfo>(texts, (signal) =>
    servers.map(async (server) => toolRows(await tools.listTools(server, signal))),
  );
}

function toolRows({ tools, failures }: ToolList): Row<ToolInfo>[] {
  const rows: Row<ToolInfo>[] = [];
  let server: string | undefined;
  for (const tool of tools) {
    if (tool.server !== server) rows.push({ label: tool.server, kind: vscode.QuickPickItemKind.Separator });
    server = tool.server;
    rows.push({
      label: `$(tools) ${plainMessage(tool.tool)}`,
      description: plainMessage(tool.title ?? ''),
      detail: plainMessage(tool.description ?? ''),
      value: tool,
    });
  }
  for (const failure of failures) {
    rows.push({ label: failure.server, kind: vscode.QuickPickItemKind.Separator });
    rows.push({
      label: vscode.l10n.t('$(warning) This server cannot be used'),
      detail: plainMessage(failure.reason),
    });
  }
  return rows;
}

/** Asks for the arguments that are not given. Resolves to undefined when the user cancels. */
async function askArguments(tool: ToolInfo, given: Answers): Promise<ToolRequest | undefined> {
  const folder = chatFolder();
  const filesFor = ({ name }: ArgumentQuestion) => expectedFiles(tool.inputSchema, name);
  const missing = argumentQuestions(tool.inputSchema).filter(({ name }) => !Object.hasOwn(given, name));
  const questions = await withPatterns(missing);
  const answers = await askQuestions(questions, {
    title: plainMessage(tool.tool),
    check: (question, text) => check(question, text, filesFor(question)),
    chooseFile: (question, title) => {
      const files = filesFor(question);
      return files && (() => chooseFiles({ title, files, folder }));
    },
  });
  if (!answers) return undefined;
  const args = fillDefaults(tool.inputSchema, { ...given, ...answers });
  return { server: tool.server, tool: tool.tool, arguments: args };
}

type FilesWanted = ReturnType<typeof expectedFiles>;

/** A file reference is replaced before the call, so it need not match the schema. */
function check(question: ArgumentQuestion, text: string, files: FilesWanted): CheckedAnswer {
  const reference = text.trim();
  const read = files === undefined ? undefined : parseReference(reference, true);
  if (read?.kind === 'refused') return { ok: false, message: `${reference}: ${read.reason}.` };
  return read?.kind === 'reference' ? { ok: true, value: reference } : checkAnswer(question, text);
}

interface FileChoice {
  readonly title: string;
  readonly files: FilesWanted;
  readonly folder: vscode.Uri | undefined;
}

async function chooseFiles({ title, files, folder }: FileChoice): Promise<string | undefined> {
  const chosen = await vscode.window.showOpenDialog({
    title,
    canSelectMany: files === 'many',
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

/** The folder of the active chat, or of a new one. */
function chatFolder(): vscode.Uri | undefined {
  const chat = activeChat()?.uri;
  if (chat?.scheme === 'file') return vscode.Uri.joinPath(chat, '..');
  return vscode.workspace.workspaceFolders?.[0]?.uri;
}

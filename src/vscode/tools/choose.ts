import { posix } from 'node:path';
import * as vscode from 'vscode';
import { describeSize } from '../../base/size.ts';
import { expandTemplate, readVariables } from '../../base/uriTemplate.ts';
import type { ToolRequest } from '../../listener.ts';
import type { PromptRequest } from '../../loop/insertions.ts';
import { expectedFiles } from '../../mcp/fileArguments/files.ts';
import { parseReference, renderFileReference } from '../../mcp/fileArguments/reference.ts';
import type { ArgumentQuestion, CheckedAnswer } from '../../mcp/schema/answer.ts';
import { checkAnswer } from '../../mcp/schema/answer.ts';
import {
  argumentQuestions,
  fillDefaults,
  missingArguments,
  withPatterns,
} from '../../mcp/schema/arguments.ts';
import type {
  PromptInfo,
  ResourceInfo,
  ResourceName,
  ServerHost,
  TemplateInfo,
} from '../../ports/servers.ts';
import type { ToolHost, ToolInfo } from '../../ports/tools.ts';
import { activeChat } from '../chat/chatFiles.ts';
import { type Fields, readObject, readString } from '../ui/commandArguments.ts';
import { perServer, pickGrowing, type Row, serverRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { type Answers, askQuestions, askWithCompletion, type TextAnswers } from '../ui/wizard.ts';

/** The servers to choose from: the one that a command names, or all. */
type AmongServers = () => Promise<readonly string[]>;

/** The call that a command names; the user picks what is missing. */
export async function chooseTool(
  fields: Fields,
  host: ToolHost,
  among: AmongServers,
): Promise<ToolRequest | undefined> {
  const server = readString(fields, 'server');
  const tool = readString(fields, 'tool');
  const given = readObject(fields, 'arguments') ?? {};
  if (server === undefined || tool === undefined) {
    const picked = await pickTool(host, await among());
    return picked && askArguments(picked, given);
  }
  const message = vscode.l10n.t('Asking {0} for its tools', server);
  const list = await withNotice(message, (signal) => host.listTools(server, signal));
  if (!list) return undefined;
  const info = list.tools.find((each) => each.tool === tool && !each.forAppsOnly);
  // The turn loop reports an unknown tool, and rejects a tool for apps.
  if (!info || missingArguments(info.inputSchema, given).length === 0) {
    return { server, tool, arguments: given };
  }
  return askArguments(info, given);
}

function pickTool(host: ToolHost, servers: readonly string[]): Promise<ToolInfo | undefined> {
  const texts = {
    title: vscode.l10n.t('Filechat: Call Tool'),
    waiting: vscode.l10n.t('Asking the servers for their tools…'),
    question: vscode.l10n.t('Which tool?'),
    nothing: vscode.l10n.t(
      'There are no tools. Add a server to the setting filechat.mcpServers or to .vscode/mcp.json.',
    ),
  };
  return pickGrowing(
    texts,
    perServer(servers, async (server, signal) => {
      const { tools, failures } = await host.listTools(server, signal);
      const rows = tools
        .filter(({ forAppsOnly }) => !forAppsOnly)
        .map((info) => rowOf('tools', info.tool, info.title, info));
      const warning = vscode.l10n.t('$(warning) This server cannot be used');
      return serverRows(server, rows, failures[0]?.reason, warning);
    }),
  );
}

function rowOf<T extends { readonly description?: string }>(
  icon: string,
  label: string,
  description: string | undefined,
  value: T,
): Row<T> {
  return {
    label: `$(${icon}) ${plainMessage(label)}`,
    description: plainMessage(description ?? ''),
    detail: plainMessage(value.description ?? ''),
    value,
  };
}

async function askArguments(tool: ToolInfo, given: Answers): Promise<ToolRequest | undefined> {
  const folder = chatFolder();
  const filesFor = ({ name }: ArgumentQuestion) => expectedFiles(tool.inputSchema, name);
  const missing = argumentQuestions(tool.inputSchema).filter(({ name }) => !Object.hasOwn(given, name));
  const questions = await withPatterns(missing);
  const answers = await askQuestions(questions, {
    title: plainMessage(tool.tool),
    check: (question, text) =>
      (filesFor(question) && checkReference(text.trim())) ?? checkAnswer(question, text),
    chooseFile: (question, title) => {
      const files = filesFor(question);
      return files && (() => chooseFiles(title, files === 'many', folder));
    },
  });
  if (!answers) return undefined;
  const args = fillDefaults(tool.inputSchema, { ...given, ...answers });
  return { server: tool.server, tool: tool.tool, arguments: args };
}

/** A file reference is replaced before the call, so it need not match the schema. Undefined for other text. */
function checkReference(text: string): CheckedAnswer | undefined {
  const read = parseReference(text, true);
  if (read?.kind === 'refused') return { ok: false, message: `${text}: ${read.reason}.` };
  return read?.kind === 'reference' ? { ok: true, value: text } : undefined;
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

/** The prompt that a command names; the user picks what is missing. */
export async function choosePrompt(
  fields: Fields,
  host: ServerHost,
  among: AmongServers,
): Promise<PromptRequest | undefined> {
  const server = readString(fields, 'server');
  const prompt = readString(fields, 'prompt');
  const given = toStrings(readObject(fields, 'arguments') ?? {});
  if (server === undefined || prompt === undefined) {
    const picked = await pickPrompt(host, await among(), prompt);
    return picked && askPromptArguments(host, picked, given);
  }
  const message = vscode.l10n.t('Asking {0} for its prompts', server);
  const list = await withNotice(message, (signal) => host.listPrompts(server, signal));
  if (!list) return undefined;
  const info = list.prompts.find((each) => each.prompt === prompt);
  // The server reports an unknown prompt.
  if (!info?.arguments.some(({ name, required }) => required && !Object.hasOwn(given, name))) {
    return { server, prompt, arguments: given };
  }
  return askPromptArguments(host, info, given);
}

/** Arguments of prompts are always strings. */
function toStrings(values: Fields): TextAnswers {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function pickPrompt(
  host: ServerHost,
  servers: readonly string[],
  name: string | undefined,
): Promise<PromptInfo | undefined> {
  const texts = {
    title: vscode.l10n.t('Filechat: Insert Prompt'),
    waiting: vscode.l10n.t('Asking the servers for their prompts…'),
    question: vscode.l10n.t('Which prompt?'),
    nothing: vscode.l10n.t('No server has prompts.'),
  };
  return pickGrowing(
    texts,
    perServer(servers, async (server, signal) => {
      const { prompts, failure } = await host.listPrompts(server, signal);
      const matches = prompts.filter(({ prompt }) => name === undefined || prompt === name);
      const rows = matches.map((info) => rowOf('comment', info.prompt, info.title, info));
      return serverRows(server, rows, failure);
    }),
  );
}

async function askPromptArguments(
  host: ServerHost,
  info: PromptInfo,
  given: TextAnswers,
): Promise<PromptRequest | undefined> {
  const { server, prompt } = info;
  const missing = info.arguments.filter(({ name }) => !Object.hasOwn(given, name));
  const questions = missing.map((question) => ({
    ...question,
    complete: (value: string, answers: TextAnswers, signal: AbortSignal) => {
      const others = { ...given, ...answers };
      const of = { kind: 'prompt', prompt } as const;
      return host.complete({ server, of, argument: question.name, value, others }, signal);
    },
  }));
  const answers = await askWithCompletion(info.title ?? prompt, questions);
  return answers && { server, prompt, arguments: { ...given, ...answers } };
}

const RESOURCE_TEXTS = {
  title: vscode.l10n.t('Filechat: Read Resource'),
  waiting: vscode.l10n.t('Asking the servers for their resources…'),
  question: vscode.l10n.t('Which resource?'),
  nothing: vscode.l10n.t('No server has resources.'),
};

interface ResourceChoice {
  readonly uri: string | undefined;
  readonly among: AmongServers;
  /** Whether to use a template that the server does not list. */
  readonly allowsUnlisted: boolean;
}

/** The resource that a command names; the user picks what is missing. */
export async function chooseResource(
  fields: Fields,
  host: ServerHost,
  { uri, among, allowsUnlisted }: ResourceChoice,
): Promise<ResourceName | undefined> {
  const server = readString(fields, 'server');
  const template = readString(fields, 'template');
  if (server === undefined || template === undefined) return pickResource(host, await among(), uri);
  const message = vscode.l10n.t('Asking {0} for its resources', server);
  const list = await withNotice(message, (signal) => host.listResources(server, signal));
  if (!list) return undefined;
  const found = list.templates.find(({ uriTemplate }) => uriTemplate === template);
  if (!found && !allowsUnlisted) {
    throw new Error(vscode.l10n.t('It has no template {0} any more.', template));
  }
  return fillTemplate(host, found ?? { server, uriTemplate: template, name: template });
}

async function pickResource(
  host: ServerHost,
  servers: readonly string[],
  uri: string | undefined,
): Promise<ResourceName | undefined> {
  if (uri !== undefined) {
    const placeHolder = vscode.l10n.t('Of which server?');
    const { title } = RESOURCE_TEXTS;
    const server =
      servers.length > 1
        ? await vscode.window.showQuickPick([...servers], { title, placeHolder })
        : servers[0];
    return server === undefined ? undefined : { server, uri };
  }
  const picked = await pickGrowing<ResourceInfo | TemplateInfo>(
    RESOURCE_TEXTS,
    perServer(servers, async (server, signal) => {
      const { resources, templates, failure } = await host.listResources(server, signal);
      const rows: Row<ResourceInfo | TemplateInfo>[] = [
        ...resources.map(resourceRow),
        ...templates.map(templateRow),
      ];
      return serverRows(server, rows, failure);
    }),
  );
  if (!picked || 'uriTemplate' in picked) return picked && fillTemplate(host, picked);
  return picked.isLarge && !(await mayReadLarge(picked))
    ? undefined
    : { server: picked.server, uri: picked.uri };
}

/** Its size and the server's description, which may say what reading it costs. */
async function mayReadLarge({ name, title, size, description }: ResourceInfo): Promise<boolean> {
  const read = vscode.l10n.t('Read');
  const question = vscode.l10n.t('“{0}” is large. Read it anyway?', plainMessage(title ?? name));
  const about = [size === undefined ? undefined : describeSize(size), description];
  const detail = plainMessage(about.filter((each) => each !== undefined).join(' · '));
  return (await vscode.window.showWarningMessage(question, { modal: true, detail }, read)) === read;
}

function resourceRow(info: ResourceInfo): Row<ResourceInfo> {
  const { uri, name, title, mimeType, size } = info;
  const about = [uri, mimeType, size === undefined ? undefined : describeSize(size)];
  return rowOf('file', title ?? name, about.filter((each) => each !== undefined).join(', '), info);
}

function templateRow(info: TemplateInfo): Row<TemplateInfo> {
  return rowOf('symbol-parameter', info.title ?? info.name, info.uriTemplate, info);
}

async function fillTemplate(
  host: ServerHost,
  { server, uriTemplate, name, title }: TemplateInfo,
): Promise<ResourceName | undefined> {
  const questions = readVariables(uriTemplate).map((variable) => ({
    ...variable,
    description: uriTemplate,
    complete: (value: string, others: TextAnswers, signal: AbortSignal) => {
      const of = { kind: 'template', uriTemplate } as const;
      return host.complete({ server, of, argument: variable.name, value, others }, signal);
    },
  }));
  const answers = await askWithCompletion(title ?? name, questions);
  return answers && { server, uri: expandTemplate(uriTemplate, answers) };
}

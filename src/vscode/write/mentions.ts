import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/calls.ts';
import { readSettings, setFrontMatter } from '../../chat/format/settings.ts';
import { argumentsSnippet, escapeText } from '../../mcp/callArguments/schema.ts';
import type { PromptInfo, ResourceList } from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';

import { chatOf, rangeOf } from '../chat/openChats.ts';
import type { ServerRow } from '../servers/items.ts';
import { isEnabled } from '../tools/switches.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { CompletionRequest, RequestAt } from './request.ts';

type Mention = RequestAt<'mention'>;

const MAX_RESOURCES = 200;

/** Tools, agents, prompts, resources and servers. */
export async function mentionItems(request: Mention): Promise<vscode.CompletionItem[]> {
  const { known, rows, files } = request.deps;
  const [tools, agents, prompts, resources, servers] = await Promise.all([
    toolsForChats(request),
    files.agents(request.document.uri),
    known.prompts(),
    known.resources(),
    rows.all(),
  ]);
  return [
    ...tools.map((tool) => toolItem(tool, request)),
    ...agents.map((name) => agentItem(name, request)),
    ...prompts.map((prompt) => promptItem(prompt, request)),
    ...resourceItems(resources, request),
    ...servers.flatMap((row) => serverItems(row, request)),
  ];
}

/** Tool names for the first line of a call. */
export async function toolNameItems(request: RequestAt<'tool'>): Promise<vscode.CompletionItem[]> {
  return (await toolsForChats(request)).map((tool) => {
    const name = renderToolName(tool);
    const item = described(name, tool, vscode.CompletionItemKind.Function);
    item.insertText = name;
    item.range = request.range;
    return item;
  });
}

async function toolsForChats({ deps }: CompletionRequest): Promise<readonly ToolInfo[]> {
  return (await deps.known.tools()).filter((tool) => !tool.forAppsOnly && isEnabled(tool));
}

function toolItem(tool: ToolInfo, request: Mention): vscode.CompletionItem {
  const name = renderToolName(tool);
  const item = described(name, tool, vscode.CompletionItemKind.Function);
  const { before, after } = aroundRange(request);
  const block = `\`\`\`tool_call ${escapeText(name)}\n${argumentsSnippet(tool.inputSchema)}\n\`\`\`\n$0`;
  item.insertText = new vscode.SnippetString(
    `${before === '' ? '' : '\n'}${block}${after === '' ? '' : '\n'}`,
  );
  return place(item, '1', name, request);
}

function promptItem(info: PromptInfo, request: Mention): vscode.CompletionItem {
  const name = `${info.server}.${info.prompt}`;
  const item = described(name, info, vscode.CompletionItemKind.Snippet);
  item.insertText = '';
  const { server, prompt } = info;
  const argument = { server, prompt, uri: request.document.uri };
  item.command = { command: 'filechat.insertPrompt', title: INSERT(), arguments: [argument] };
  return place(item, '3', name, request);
}

const INSERT = () => vscode.l10n.t('Insert the prompt');
const READ = () => vscode.l10n.t('Read the resource into the chat');

function resourceItems(lists: readonly ResourceList[], request: Mention): vscode.CompletionItem[] {
  const resources = lists.flatMap((each) => each.resources).slice(0, MAX_RESOURCES);
  return resources.map(({ server, uri, name, title, description }) => {
    const item = described(
      `${server}: ${title ?? name}`,
      { description },
      vscode.CompletionItemKind.Reference,
    );
    item.label = { label: plainMessage(title ?? name), description: plainMessage(`${server} ${uri}`) };
    item.insertText = '';
    const argument = { server, resource: uri, into: request.document.uri };
    item.command = { command: 'filechat.readResource', title: READ(), arguments: [argument] };
    return place(item, '4', `${server}.${title ?? name} ${uri}`, request);
  });
}

function agentItem(name: string, request: Mention): vscode.CompletionItem {
  const label = { label: plainMessage(name), description: vscode.l10n.t('Make it the agent of this chat') };
  const item = new vscode.CompletionItem(label, vscode.CompletionItemKind.User);
  item.insertText = '';
  item.additionalTextEdits = [setting('agent', name, request)];
  return place(item, '2', name, request);
}

/** A server can be added to the front matter, and started if it does not run. */
function serverItems({ server, state }: ServerRow, request: Mention): vscode.CompletionItem[] {
  const named = readSettings(chatOf(request.document)).settings.servers;
  const items: vscode.CompletionItem[] = [];
  if (!named?.includes(server)) {
    const description = named
      ? vscode.l10n.t('Add it to the servers of this chat')
      : vscode.l10n.t('Limit this chat to this server');
    const label = { label: plainMessage(server), description };
    const item = new vscode.CompletionItem(label, vscode.CompletionItemKind.Module);
    item.insertText = '';
    item.additionalTextEdits = [setting('servers', [...(named ?? []), server], request)];
    items.push(place(item, '6', server, request));
  }
  if (state.kind !== 'ready' && state.kind !== 'starting') {
    const words = vscode.l10n.t('Start server {0} to see its tools', plainMessage(server));
    const item = new vscode.CompletionItem(words, vscode.CompletionItemKind.Event);
    item.insertText = '';
    item.command = { command: 'filechat.startServer', title: words, arguments: [{ server }] };
    items.push(place(item, '5', `${server} ${words}`, request));
  }
  return items;
}

/** The server's description is shown as plain text. */
function described(
  name: string,
  { title, description }: { readonly title?: string | undefined; readonly description?: string | undefined },
  kind: vscode.CompletionItemKind,
): vscode.CompletionItem {
  const label = { label: plainMessage(name), ...(title ? { description: plainMessage(title) } : {}) };
  const item = new vscode.CompletionItem(label, kind);
  if (description) item.documentation = new vscode.MarkdownString().appendText(description.slice(0, 2000));
  return item;
}

function place(
  item: vscode.CompletionItem,
  group: string,
  name: string,
  { range }: Mention,
): vscode.CompletionItem {
  item.filterText = `@${name}`;
  item.sortText = `${group}${name}`;
  item.range = range;
  return item;
}

function aroundRange({ document, range }: Mention): { readonly before: string; readonly after: string } {
  const line = document.lineAt(range.start.line).text;
  return {
    before: line.slice(0, range.start.character).trim(),
    after: line.slice(range.end.character).trim(),
  };
}

function setting(
  key: 'agent' | 'servers',
  value: string | readonly string[],
  { document }: Mention,
): vscode.TextEdit {
  const edit = setFrontMatter(document.getText(), key, value, chatOf(document));
  return new vscode.TextEdit(rangeOf(document, edit), edit.text);
}

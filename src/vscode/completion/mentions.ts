import * as vscode from 'vscode';
import { BUILT_IN_SERVER } from '../../base/assetNames.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import { readSettings, setFrontMatter } from '../../chat/format/frontMatter.ts';
import { argumentsSnippet, escapeSnippet } from '../../mcp/callArguments/schema.ts';
import type { PromptInfo, ResourceList } from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { chatOf, rangeOf } from '../chat/chatFiles.ts';
import type { ServerRow } from '../servers/items.ts';
import { isEnabled } from '../tools/switches.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type CompletionRequest, createItem, type RequestAt } from './request.ts';

type Mention = RequestAt<'mention'>;

const MAX_RESOURCES = 200;

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

export async function toolNameItems(request: RequestAt<'tool'>): Promise<vscode.CompletionItem[]> {
  return (await toolsForChats(request)).map((tool) => {
    const name = renderToolName(tool);
    const item = described(name, tool, vscode.CompletionItemKind.Function);
    const sortText = `${tool.server === BUILT_IN_SERVER ? '~' : ''}${name}`;
    return Object.assign(item, { insertText: name, sortText, range: request.range });
  });
}

async function toolsForChats({ deps }: CompletionRequest): Promise<readonly ToolInfo[]> {
  return (await deps.known.tools()).filter((tool) => !tool.forAppsOnly && isEnabled(tool));
}

function toolItem(tool: ToolInfo, request: Mention): vscode.CompletionItem {
  const name = renderToolName(tool);
  const item = described(name, tool, vscode.CompletionItemKind.Function);
  const { document, range } = request;
  const line = document.lineAt(range.start.line).text;
  const before = line.slice(0, range.start.character).trim();
  const after = line.slice(range.end.character).trim();
  const block = `\`\`\`tool_call ${escapeSnippet(name)}\n${argumentsSnippet(tool.inputSchema)}\n\`\`\`\n$0`;
  item.insertText = new vscode.SnippetString(
    `${before === '' ? '' : '\n'}${block}${after === '' ? '' : '\n'}`,
  );
  // Behind everything of the user's servers.
  return finish(item, tool.server === BUILT_IN_SERVER ? '7' : '1', name, request);
}

function promptItem(info: PromptInfo, request: Mention): vscode.CompletionItem {
  const name = `${info.server}.${info.prompt}`;
  const item = described(name, info, vscode.CompletionItemKind.Snippet);
  item.command = {
    command: 'filechat.insertPrompt',
    title: vscode.l10n.t('Insert the prompt'),
    arguments: [{ server: info.server, prompt: info.prompt, uri: request.document.uri }],
  };
  return finish(item, '3', name, request);
}

function resourceItems(lists: readonly ResourceList[], request: Mention): vscode.CompletionItem[] {
  const resources = lists.flatMap((each) => each.resources).slice(0, MAX_RESOURCES);
  return resources.map(({ server, uri, name, title, description }) => {
    const about = { title: `${server} ${uri}`, description };
    const item = described(title ?? name, about, vscode.CompletionItemKind.Reference);
    item.command = {
      command: 'filechat.readResource',
      title: vscode.l10n.t('Read the resource into the chat'),
      arguments: [{ server, resource: uri, into: request.document.uri }],
    };
    return finish(item, '4', `${server}.${title ?? name} ${uri}`, request);
  });
}

function agentItem(name: string, request: Mention): vscode.CompletionItem {
  const label = { label: plainMessage(name), description: vscode.l10n.t('Use as the agent of this chat') };
  const additionalTextEdits = [setting('agent', name, request)];
  const item = createItem(label, vscode.CompletionItemKind.User, { additionalTextEdits });
  return finish(item, '2', name, request);
}

/** A server can be added to the front matter, and started if it does not run. */
function serverItems({ server, state }: ServerRow, request: Mention): vscode.CompletionItem[] {
  const named = readSettings(chatOf(request.document)).settings.servers;
  const items: vscode.CompletionItem[] = [];
  if (!named?.includes(server)) {
    const description = named
      ? vscode.l10n.t('Add to the servers of this chat')
      : vscode.l10n.t('Limit this chat to this server');
    const label = { label: plainMessage(server), description };
    const additionalTextEdits = [setting('servers', [...(named ?? []), server], request)];
    const item = createItem(label, vscode.CompletionItemKind.Module, { additionalTextEdits });
    items.push(finish(item, '6', server, request));
  }
  if (state.kind !== 'ready' && state.kind !== 'starting') {
    const title = vscode.l10n.t('Start server {0} to see its tools', plainMessage(server));
    const command = { command: 'filechat.startServer', title, arguments: [{ server }] };
    const item = createItem(title, vscode.CompletionItemKind.Event, { command });
    items.push(finish(item, '5', `${server} ${title}`, request));
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

/** Items with a command or additional edits insert nothing. */
function finish(
  item: vscode.CompletionItem,
  group: string,
  name: string,
  { range }: Mention,
): vscode.CompletionItem {
  const { insertText = '' } = item;
  return Object.assign(item, { insertText, filterText: `@${name}`, sortText: `${group}${name}`, range });
}

function setting(
  key: 'agent' | 'servers',
  value: string | readonly string[],
  { document }: Mention,
): vscode.TextEdit {
  const edit = setFrontMatter(document.getText(), key, value, chatOf(document));
  return new vscode.TextEdit(rangeOf(document, edit), edit.text);
}

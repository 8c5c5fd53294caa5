import * as vscode from 'vscode';
import { type Role, renderMarker } from '../../chat/format/chat.ts';
import type { RequestAt } from './request.ts';

interface SlashCommand {
  readonly word: string;
  readonly command: string;
  readonly about: string;
}

function slashCommands(): readonly SlashCommand[] {
  const { t } = vscode.l10n;
  return [
    { word: 'run', command: 'filechat.run', about: t('Run what the chat asks for next') },
    { word: 'stop', command: 'filechat.stop', about: t('Stop what runs') },
    { word: 'resume', command: 'filechat.resume', about: t('Go on with a reply that was cut') },
    { word: 'regenerate', command: 'filechat.regenerate', about: t('Ask for the last reply again') },
    { word: 'model', command: 'filechat.selectModel', about: t('Choose the model of this chat') },
    { word: 'attach', command: 'filechat.attachFile', about: t('Attach files') },
    { word: 'tool', command: 'filechat.callTool', about: t('Call a tool') },
    { word: 'prompt', command: 'filechat.insertPrompt', about: t('Insert a prompt of a server') },
    { word: 'resource', command: 'filechat.readResource', about: t('Read a resource of a server') },
    { word: 'server', command: 'filechat.startServer', about: t('Start a server') },
    { word: 'assets', command: 'filechat.showAssets', about: t('Show the files of this chat') },
    { word: 'sent', command: 'filechat.showBreakdown', about: t('Show what will be sent') },
    { word: 'fork', command: 'filechat.fork', about: t('Go on from here in a new chat') },
    { word: 'compact', command: 'filechat.compact', about: t('Put a summary in the place of older turns') },
    { word: 'new', command: 'filechat.newChat', about: t('Begin a new chat') },
    { word: 'search', command: 'filechat.searchChats', about: t('Search all chats') },
  ];
}

/** The argument with the chat's URI, if it is not `uri`. */
const CHAT_FIELDS: Readonly<Record<string, string>> = { 'filechat.readResource': 'into' };
const WITHOUT_CHAT: ReadonlySet<string> = new Set([
  'filechat.newChat',
  'filechat.searchChats',
  'filechat.startServer',
]);

/** Removes the typed text and runs the command. */
export function commandItems({ document, range }: RequestAt<'command'>): vscode.CompletionItem[] {
  return slashCommands().map(({ word, command, about }, at) => {
    const label = { label: `/${word}`, description: about };
    const item = new vscode.CompletionItem(label, vscode.CompletionItemKind.Event);
    item.insertText = '';
    item.filterText = `/${word}`;
    item.sortText = String(at).padStart(2, '0');
    item.range = range;
    const argument = WITHOUT_CHAT.has(command) ? [] : [{ [CHAT_FIELDS[command] ?? 'uri']: document.uri }];
    item.command = { command, title: about, arguments: argument };
    return item;
  });
}

/** Markers of turns. The assistant's has no line break, because typing that one starts the run. */
export function roleItems({ range, place }: RequestAt<'role'>): vscode.CompletionItem[] {
  const abouts: readonly (readonly [Role, string])[] = [
    ['user', vscode.l10n.t('What you say')],
    ['assistant', vscode.l10n.t('What the model says; Enter asks it')],
    ['system', vscode.l10n.t('What the model is told in advance')],
  ];
  return abouts.flatMap(([role, detail], at) => {
    if (place.typed.toLowerCase() === role) return [];
    const marker = renderMarker(role);
    const item = new vscode.CompletionItem(marker, vscode.CompletionItemKind.Keyword);
    item.insertText = role === 'assistant' ? marker : `${marker}\n`;
    item.detail = detail;
    item.range = range;
    // Without the last letter: once the word is complete, nothing matches and Enter inserts a line break.
    item.filterText = marker.slice(0, -1);
    item.sortText = String(at);
    return [item];
  });
}

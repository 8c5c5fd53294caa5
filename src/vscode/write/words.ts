import * as vscode from 'vscode';
import { type Role, renderMarker } from '../../chat/format/marker.ts';
import { createItem, type RequestAt, sortKey } from './request.ts';

function slashCommands(): readonly (readonly [word: string, command: string, about: string])[] {
  const { t } = vscode.l10n;
  return [
    ['run', 'run', t('Run what the chat asks for next')],
    ['stop', 'stop', t('Stop what runs')],
    ['resume', 'resume', t('Go on with a reply that was cut')],
    ['regenerate', 'regenerate', t('Ask for the last reply again')],
    ['model', 'selectModel', t('Choose the model of this chat')],
    ['attach', 'attachFile', t('Attach files')],
    ['tool', 'callTool', t('Call a tool')],
    ['prompt', 'insertPrompt', t('Insert a prompt of a server')],
    ['resource', 'readResource', t('Read a resource of a server')],
    ['server', 'startServer', t('Start a server')],
    ['assets', 'showAssets', t('Show the files of this chat')],
    ['sent', 'showBreakdown', t('Show what will be sent')],
    ['fork', 'fork', t('Go on from here in a new chat')],
    ['compact', 'compact', t('Put a summary in the place of older turns')],
    ['new', 'newChat', t('Begin a new chat')],
    ['search', 'searchChats', t('Search all chats')],
  ];
}

/** The argument with the chat's URI, if it is not `uri`. */
const CHAT_FIELDS: Readonly<Record<string, string>> = { readResource: 'into' };
const WITHOUT_CHAT: ReadonlySet<string> = new Set(['newChat', 'searchChats', 'startServer']);

export function commandItems({ document, range }: RequestAt<'command'>): vscode.CompletionItem[] {
  return slashCommands().map(([word, name, about], at) => {
    const chat = { [CHAT_FIELDS[name] ?? 'uri']: document.uri };
    return createItem({ label: `/${word}`, description: about }, vscode.CompletionItemKind.Event, {
      insertText: '',
      filterText: `/${word}`,
      sortText: sortKey(at),
      range,
      command: {
        command: `filechat.${name}`,
        title: about,
        arguments: WITHOUT_CHAT.has(name) ? [] : [chat],
      },
    });
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
    const fields = {
      insertText: role === 'assistant' ? marker : `${marker}\n`,
      detail,
      range,
      // Without the last letter: once the word is complete, nothing matches and Enter inserts a line break.
      filterText: marker.slice(0, -1),
      sortText: sortKey(at),
    };
    return [createItem(marker, vscode.CompletionItemKind.Keyword, fields)];
  });
}

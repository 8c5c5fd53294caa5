import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { describeChange, describeServer, fingerprintServer } from '../../mcp/config/fingerprint.ts';
import { looksSecret } from '../../mcp/config/secrets.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import { chatName } from '../chat/chatFiles.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { ConfiguredServer } from './configuredServers.ts';

/** The configuration that the user last allowed, as stored. */
export interface Agreement {
  readonly print: string;
  /** The description that the user saw. */
  readonly text: string;
  readonly envFile?: string | undefined;
}

interface AskedServer {
  readonly server: ConfiguredServer;
  readonly was: Agreement | undefined;
  /** False if its env file is outside of the workspace and has not been read. */
  readonly isFileRead: boolean;
}

const ALLOW = vscode.l10n.t('Allow');
const DECLINE = vscode.l10n.t('Don’t Start');
const REVIEW = vscode.l10n.t('Review Servers…');

/**
 * One modal question for all servers, because it decides what runs on the machine. VS Code focuses the first button, so
 * that is not the one that starts something. Over other work, a notification comes first.
 */
export async function askAboutServers(
  asked: readonly AskedServer[],
  chat: vscode.Uri | undefined,
): Promise<'given' | 'declined' | 'cancelled'> {
  if (chat && !(await isReady(chat))) return 'cancelled';
  const options = { modal: true, detail: detailOf(asked) };
  const answer = await vscode.window.showWarningMessage(questionAbout(asked), options, DECLINE, ALLOW);
  if (answer === undefined) return 'cancelled';
  return answer === ALLOW ? 'given' : 'declined';
}

/** Whether the chat is in front, or the user wants to answer now. */
async function isReady(chat: vscode.Uri): Promise<boolean> {
  const active = vscode.window.activeTextEditor?.document.uri;
  if (!active || active.toString() === chat.toString()) return true;
  const message = vscode.l10n.t(
    'The chat “{0}” needs permission to start MCP servers of this workspace.',
    plainMessage(chatName(chat)),
  );
  return (await vscode.window.showInformationMessage(message, REVIEW)) === REVIEW;
}

/** Masks secrets in the user's own configuration; a workspace file contains none of the user's secrets. */
export function describe({ written, source }: ConfiguredServer): string {
  return source === 'workspace' ? describeServer(written) : describeServer(written, looksSecret);
}

function questionAbout(asked: readonly AskedServer[]): string {
  const [first] = asked;
  return first && asked.length === 1
    ? headlineOf(first)
    : vscode.l10n.t('This workspace wants to use {0} MCP servers.', asked.length);
}

function headlineOf({ server, was }: AskedServer): string {
  const { name, config, source } = server;
  if (was?.print === fingerprintServer(withoutFile(config))) {
    return vscode.l10n.t(
      'The env file of the MCP server “{0}” sets variables that you have not reviewed.',
      name,
    );
  }
  if (source !== 'workspace') {
    return was === undefined
      ? vscode.l10n.t('Your MCP server “{0}” takes its variables from a file of this workspace.', name)
      : vscode.l10n.t(
          'Your MCP server “{0}”, which takes variables from this workspace, has changed since you allowed it.',
          name,
        );
  }
  if (was !== undefined)
    return vscode.l10n.t('The MCP server “{0}” of this workspace has changed since you allowed it.', name);
  return config.kind === 'stdio'
    ? vscode.l10n.t('This workspace wants to start a program: the MCP server “{0}”.', name)
    : vscode.l10n.t('This workspace wants to connect to a server: the MCP server “{0}”.', name);
}

function withoutFile(config: ServerConfig): ServerConfig {
  if (config.kind !== 'stdio') return config;
  const { fileVariables: _unseen, ...own } = config;
  return own;
}

/** Each server whole: what is not shown is not agreed to. */
function detailOf(asked: readonly AskedServer[]): string {
  const isOneFile = asked.length > 1 && asked.every(({ server }) => server.source === 'workspace');
  const sections = asked.map((each) => {
    const lines = [describeAsked(each), ...(isOneFile ? [] : [placeOf(each)])].join('\n\n');
    return asked.length === 1 ? lines : `${titleOf(each)}\n${lines}`;
  });
  const buttons = vscode.l10n.t(
    '“Don’t Start” applies until the window is reloaded. “Cancel” asks again next time.',
  );
  const file = isOneFile ? [vscode.l10n.t('They are configured in .vscode/mcp.json.')] : [];
  return [...file, sections.join(`\n\n${RULE}\n\n`), buttons].join('\n\n');
}

const RULE = '─'.repeat(12);

/** One of several servers. New ones need only their name. */
function titleOf(asked: AskedServer): string {
  const { name, config, source } = asked.server;
  if (asked.was !== undefined || source !== 'workspace') return headlineOf(asked);
  return config.kind === 'stdio'
    ? vscode.l10n.t('Start “{0}”:', name)
    : vscode.l10n.t('Connect to “{0}”:', name);
}

function describeAsked({ server, was, isFileRead }: AskedServer): string {
  const text = describe(server);
  const path = server.envFile && showInvisible(server.envFile.path);
  const notes = [
    was && describeChange(was.text, text),
    text,
    server.problem,
    path !== undefined && !isFileRead
      ? [
          vscode.l10n.t('Its env file is outside this workspace: {0}', path),
          vscode.l10n.t(
            'If you allow this, the file is read. You are then asked again with the variables that it sets.',
          ),
        ].join('\n')
      : undefined,
  ];
  return notes.filter((each) => each !== undefined).join('\n\n');
}

function placeOf({ server: { source, envFile } }: AskedServer): string {
  return source === 'workspace'
    ? vscode.l10n.t('It is configured in .vscode/mcp.json.')
    : vscode.l10n.t(
        'It is configured in your settings. Anyone who can write to this workspace can change the file {0}',
        showInvisible(envFile?.path ?? ''),
      );
}

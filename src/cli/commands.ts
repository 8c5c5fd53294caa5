import { readFile } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { FolderFiles } from '../assets/readFile.ts';
import { FolderAssets } from '../assets/store.ts';
import { nextAction } from '../chat/nextAction.ts';
import { parseChat } from '../chat/parse.ts';
import { renderToolName } from '../chat/toolCall.ts';
import { ChatListener } from '../listener.ts';
import { readServersFile, type ServerConfig } from '../mcp/config.ts';
import { Connections } from '../mcp/connections.ts';
import { ReferencedFiles } from '../mcp/fileArguments.ts';
import { DEFAULT_LIMITS, McpClient } from '../mcpClient.ts';
import type { Consent, RunOutcome, ToolProgress } from '../ports.ts';
import { FileDocument } from './fileDocument.ts';
import { CONSENT_GIVEN, TerminalConsent } from './terminalConsent.ts';
import { type Command, UsageError } from './usage.ts';

/** Where a command writes, so that a test can read it. */
export interface Output {
  out(text: string): void;
  err(text: string): void;
}

export interface CliContext extends Output {
  readonly version: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
}

/** Does the work of one command and says how the process should end. */
export async function runCommand(command: Work, context: CliContext): Promise<0 | 1> {
  if (command.servers === undefined && (await callsTools(command))) {
    throw new UsageError('The chat calls tools: --servers mcp.json is missing.');
  }
  const servers = command.servers === undefined ? new Map() : await readServers(command.servers, context);
  const client = createClient(servers, context);
  try {
    if (command.kind === 'tools') return await listTools(client, context);
    return await runChat(command, client, context);
  } finally {
    await client.dispose();
  }
}

export type Work = Extract<Command, { kind: 'tools' | 'call' | 'run' }>;

const TIMEOUT_MS = 60_000;

function createClient(servers: ReadonlyMap<string, ServerConfig>, context: CliContext): McpClient {
  const options = {
    servers: async () => servers,
    log: { info: () => {}, warn: context.err, error: () => {} },
    timeoutMs: () => TIMEOUT_MS,
    clientInfo: { name: 'filechat', version: context.version },
  };
  return new McpClient(async () => new Connections(options));
}

/** `${workspaceFolder}` is the folder that the file configures: its own, or the one around `.vscode/`. */
async function readServers(path: string, { err }: Output): Promise<ReadonlyMap<string, ServerConfig>> {
  const folder = dirname(resolve(path));
  const workspaceFolder = basename(folder) === '.vscode' ? dirname(folder) : folder;
  const { servers, problems } = readServersFile(await readFile(path, 'utf8'), {
    workspaceFolder,
    env: process.env,
  });
  for (const problem of problems) err(problem);
  if (servers.size === 0) throw new Error(`No server in ${path} can be used.`);
  return servers;
}

async function callsTools(command: Work): Promise<boolean> {
  if (command.kind !== 'run') return true;
  const document = await FileDocument.open(command.chat);
  return nextAction(document.text()).kind === 'runTools';
}

async function listTools(client: McpClient, { out, err, signal }: CliContext): Promise<0 | 1> {
  const { tools, failures } = await client.listTools(undefined, signal);
  for (const tool of tools) {
    const about = (tool.description ?? tool.title ?? '').split('\n')[0]?.trim();
    out(about ? `${renderToolName(tool)}  ${about}` : renderToolName(tool));
  }
  for (const { reason } of failures) err(reason);
  return failures.length === 0 ? 0 : 1;
}

async function runChat(command: Exclude<Work, { kind: 'tools' }>, client: McpClient, context: CliContext) {
  const document = await FileDocument.open(command.chat, { orBegin: command.kind === 'call' });
  const answered = new Set(toolTurns(document.text()).map(({ words }) => words));
  const consent: Consent = command.kind === 'call' ? CONSENT_GIVEN : new TerminalConsent(command.approve);
  const folder = dirname(document.path);
  const listener = new ChatListener({
    document,
    assets: new FolderAssets({ folder }),
    tools: client,
    consent,
    files: new ReferencedFiles(
      new FolderFiles({ folder, roots: [folder, command.root], limits: () => DEFAULT_LIMITS }),
    ),
    log: { info: () => {}, warn: () => {}, error: context.err },
    rescue: context.out,
    onProgress: (call, progress) => context.err(`${renderToolName(call)}: ${describeProgress(progress)}`),
  });
  context.signal.addEventListener('abort', () => listener.stop());
  const outcome = await (command.kind === 'call' ? listener.callTool(command) : listener.run());
  for (const { words, text } of toolTurns(document.text())) if (!answered.has(words)) context.out(text);
  return report(outcome, context);
}

function report({ ok, error }: RunOutcome, { err }: Output): 0 | 1 {
  if (!ok) err(error ?? 'It failed.');
  return ok ? 0 : 1;
}

function toolTurns(text: string): readonly { readonly words: string; readonly text: string }[] {
  return parseChat(text)
    .turns.filter((turn) => turn.role === 'tool')
    .map((turn) => ({ words: turn.words, text: text.slice(turn.start, turn.end) }));
}

function describeProgress({ message, done, total }: ToolProgress): string {
  const share = done === undefined ? '' : total === undefined ? ` (${done})` : ` (${done} of ${total})`;
  return `${message ?? 'working'}${share}`;
}

import { dirname } from 'node:path';
import { AuditFile } from '../assets/auditFile.ts';
import { chatAttachments, chatFiles, readAgentFile } from '../assets/chatFiles.ts';
import { acquireLock } from '../assets/chatLock.ts';
import { sweepLeftovers } from '../assets/writeFile.ts';
import { BUILT_IN_SERVER, withBuiltInServer, withBuiltInTools } from '../catalog/tools/builtIn.ts';

import { renderToolName } from '../chat/format/calls.ts';
import { nextAction } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import { ChatListener, type ReplyProgress } from '../listener.ts';
import { ReferencedFiles } from '../mcp/fileArguments/files.ts';
import { DEFAULT_LIMITS, type McpClient } from '../mcpClient.ts';
import { describeUsage } from '../model/config/prices.ts';
import { ChatConversation } from '../model/request/conversation.ts';
import type { ChatModel } from '../ports/models.ts';
import type { Audit, ToolHost, ToolProgress } from '../ports/tools.ts';
import { createMcpClient, createModelFinder, MAX_LIST_MS, readServers } from './client.ts';
import { FileDocument } from './fileDocument.ts';
import { assetsBeside } from './recovery.ts';
import { CONSENT_GIVEN, terminalConsent } from './terminal.ts';
import { type CliContext, UsageError, type Work } from './usage.ts';

/** Resolves to the exit status. */
export async function runCommand(command: Work, context: CliContext): Promise<0 | 1> {
  if (command.servers === undefined && (await callsTools(command))) {
    throw new UsageError('The chat calls tools: --servers mcp.json is missing.');
  }
  const servers = await readServers(command.servers, context);
  const client = createMcpClient(servers, command, context);
  try {
    if (command.kind === 'tools') return await listTools(client, context);
    return await runChat({ command, client, context, servers: [...servers.keys()] });
  } finally {
    await client.dispose();
  }
}

/** Whether the command calls tools that are not built in. */
async function callsTools(command: Work): Promise<boolean> {
  if (command.kind !== 'run') return command.kind !== 'call' || command.server !== BUILT_IN_SERVER;
  const document = await FileDocument.open(command.chat);
  const action = nextAction(document.text());
  return action.kind === 'runTools' && action.calls.some(({ server }) => server !== BUILT_IN_SERVER);
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

interface ChatDeps {
  readonly command: Exclude<Work, { kind: 'tools' }>;
  readonly client: McpClient;
  readonly context: CliContext;
  /** The names of the configured servers. */
  readonly servers: readonly string[];
}

async function runChat(deps: ChatDeps): Promise<0 | 1> {
  const { command, context } = deps;
  const audit = command.audit ? new AuditFile({ path: command.audit, onFailure: context.err }) : undefined;
  const document = await FileDocument.open(command.chat, { orCreate: command.kind === 'call' });
  const lock = await acquireLock(document.path);
  if ('holder' in lock) throw new Error(`${command.chat} is running already: ${lock.holder}.`);
  try {
    await sweepLeftovers(dirname(document.path)).catch(() => undefined);
    const before = answers(document.text());
    const listener = await createListener(deps, document, audit);
    context.signal.throwIfAborted();
    context.signal.addEventListener('abort', () => listener.stop());
    const outcome = await (command.kind === 'call' ? listener.callTool(command) : listener.run());
    for (const answer of newAnswers(before, answers(document.text()))) context.out(answer);
    if (!outcome.ok) context.err(outcome.error ?? 'The run failed.');
    return outcome.ok ? 0 : 1;
  } finally {
    await audit?.flush();
    await lock.release();
  }
}

/** Longer than in the editor, because each batch writes the whole file. */
const BATCH_MS = 500;

async function createListener(
  deps: ChatDeps,
  document: FileDocument,
  audit: Audit | undefined,
): Promise<ChatListener> {
  const { command, client, context, servers } = deps;
  const folder = dirname(document.path);
  // Without the current folder: running an untrusted chat must not expose its files.
  const roots = command.root === undefined ? [folder] : [folder, command.root];
  const places = { chat: document.path, text: () => document.text(), assetsIn: folder, folders: roots };
  const tools = withBuiltInTools(client, {
    placesOf: () => places,
    isOffered: () => !servers.includes(BUILT_IN_SERVER),
  });
  return new ChatListener({
    document,
    assets: assetsBeside(document.path),
    tools,
    consent: command.kind === 'call' ? CONSENT_GIVEN : terminalConsent(command.approve, context),
    conversation:
      command.kind === 'call'
        ? undefined
        : await createConversation(command, { ...deps, tools, folder, roots }),
    chat: document.path,
    audit,
    files: new ReferencedFiles(chatFiles({ folder, roots, limits: () => DEFAULT_LIMITS })),
    log: { info: () => {}, warn: () => {}, error: context.err },
    rescue: context.out,
    batchMs: BATCH_MS,
    onProgress: (call, progress) => {
      // Byte counts come several times a second, too often for a log.
      if (progress.bytes === undefined) context.err(`${renderToolName(call)}: ${describeProgress(progress)}`);
    },
    onReply: (progress) => reportReply(progress, context),
    onUsage: (model, usage) => context.err(`${model.name}: ${describeUsage(usage)}`),
  });
}

async function createConversation(
  command: Extract<Work, { kind: 'run' }>,
  {
    tools,
    folder,
    roots,
    context,
    servers,
  }: ChatDeps & { readonly tools: ToolHost; readonly folder: string; readonly roots: readonly string[] },
): Promise<ChatConversation> {
  const finder = await createModelFinder(command.models, context);
  let model: ChatModel | undefined;
  return new ChatConversation({
    findModel: async (name) => {
      model = await finder.find(command.model ?? name);
      return model;
    },
    tools,
    attachments: chatAttachments({ folder, roots }),
    readAgent: (name) => readAgentFile(name, roots),
    maxSteps: () => command.maxSteps,
    // The tour calls only tools of configured servers.
    servers: async () => (model?.provider === 'tour' ? servers : withBuiltInServer(servers, folder)),
    maxListMs: MAX_LIST_MS,
  });
}

function reportReply(progress: ReplyProgress, { err }: CliContext): void {
  if (progress.kind === 'asking') {
    if (progress.model === 'tour')
      err('The tour replies, a script without a model. Choose a model with --model.');
    for (const note of progress.notes) err(note);
  }
  if (progress.kind === 'waiting') err(`${progress.reason} Retrying in ${Math.ceil(progress.ms / 1000)} s.`);
}

function answers(text: string): readonly string[] {
  return parseChat(text)
    .turns.filter((turn) => turn.role === 'tool' || turn.role === 'assistant')
    .map((turn) => text.slice(turn.start, turn.end).trimEnd());
}

/** The answers in `after` that are not in `before`, which is a subsequence of it. */
function newAnswers(before: readonly string[], after: readonly string[]): readonly string[] {
  let known = 0;
  return after.filter((answer) => {
    const at = before.indexOf(answer, known);
    if (at >= 0) known = at + 1;
    return at < 0;
  });
}

function describeProgress({ message, done, total }: ToolProgress): string {
  const share = done === undefined ? '' : total === undefined ? ` (${done})` : ` (${done} of ${total})`;
  return `${message ?? 'working'}${share}`;
}

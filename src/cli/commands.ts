import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { AuditFile } from '../assets/auditFile.ts';
import { chatAttachments, chatFiles, readAgentFile } from '../assets/chatFiles.ts';
import { sweepChatFolder } from '../assets/store.ts';
import { BUILT_IN_SERVER } from '../base/assetNames.ts';
import { visibleLine } from '../base/lines.ts';
import { needsServers, withBuiltInServer, withBuiltInTools } from '../catalog/tools/builtIn.ts';
import { renderCallName, renderToolName } from '../chat/format/callInfo.ts';
import type { Turn } from '../chat/format/chat.ts';
import { nextAction } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import { ChatListener, type ReplyProgress } from '../listener.ts';
import { attachAddress } from '../loop/attachAddress.ts';
import { ReferencedFiles } from '../mcp/fileArguments/referencedFiles.ts';
import { isSwitchedOff, withSwitches } from '../mcp/pool/switchedTools.ts';
import type { McpClient } from '../mcpClient.ts';
import { costOf, describeUsage } from '../model/config/prices.ts';
import { billingPage } from '../model/describeFailure.ts';
import { ChatConversation } from '../model/request/conversation.ts';
import type { RunOutcome } from '../ports/document.ts';
import type { Failure, FailureKind } from '../ports/failures.ts';
import type { ChatModel } from '../ports/models.ts';
import type { Audit, ToolHost, ToolProgress } from '../ports/tools.ts';
import { createMcpClient, createModelFinder, readServers, toVariable } from './client.ts';
import { type AttachCommand, type ChatWork, type CliContext, UsageError, type Work } from './commandLine.ts';
import { FileDocument } from './fileDocument.ts';
import { assetsBeside, report, withLock } from './recovery.ts';
import { type CliSettings, limitsOf, maxListMs, readCliSettings } from './settings.ts';
import { CONSENT_GIVEN, terminalConsent } from './terminal.ts';

/** Resolves to the exit status. */
export async function runCommand(command: Work | AttachCommand, context: CliContext): Promise<0 | 1> {
  if (command.kind === 'attach') return attach(command, context);
  const settings = await readCliSettings(command);
  const servers = await readServers(command.servers, settings, context);
  if (command.servers === undefined && servers.size === 0 && (await callsTools(command))) {
    const why = command.kind === 'run' ? 'The chat calls tools, but no' : 'No';
    throw new UsageError(`${why} servers are configured. Add --servers FILE.`, command.kind);
  }
  const client = createMcpClient(servers, { command, settings, context });
  try {
    if (command.kind === 'tools') return await listTools(client, context);
    if (command.kind === 'resources') return await listResources(client, [...servers.keys()], context);
    return await runChat({ command, client, settings, context, servers: [...servers.keys()] });
  } finally {
    await client.dispose();
  }
}

/** Fetches an address into a chat. Resolves to the exit status. */
async function attach(command: AttachCommand, context: CliContext): Promise<0 | 1> {
  const settings = await readCliSettings(command);
  const document = await FileDocument.open(command.chat, { orCreate: true });
  const fetch = () =>
    attachAddress(command.address, {
      document,
      assets: assetsBeside(document.path),
      limits: limitsOf(settings),
      mayFetch: (url, signal) => mayFetch(url, command, { ask: context.ask, signal }),
      signal: context.signal,
      timeoutMs: settings.timeoutSeconds * 1000,
    });
  return report(await withLock(document, command.chat, fetch), context);
}

async function mayFetch(
  url: URL,
  { allowHost }: AttachCommand,
  { ask, signal }: Pick<CliContext, 'ask' | 'signal'>,
): Promise<boolean> {
  if (allowHost === url.host) return true;
  if (!ask)
    throw new Error(
      `Fetching ${url.href} needs your permission, but there is no terminal to ask on. To allow it, add --allow-host ${url.host}.`,
    );
  const answer = await ask(
    `Fetch ${url.href} from ${url.host} and save it beside the chat? [y]es, [n]o: `,
    signal,
  );
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

/** Whether the command needs configured servers. */
async function callsTools(command: Work): Promise<boolean> {
  if (command.kind !== 'run') return command.kind !== 'call' || needsServers(command);
  const document = await FileDocument.open(command.chat);
  const action = nextAction(document.text());
  return action.kind === 'runTools' && action.calls.some(needsServers);
}

async function listTools(client: McpClient, { out, err, signal }: CliContext): Promise<0 | 1> {
  const { tools, failures } = await client.listTools(undefined, signal);
  for (const tool of tools.filter(({ forAppsOnly }) => !forAppsOnly)) {
    const about = (tool.description?.trim() || tool.title?.trim() || '').split('\n', 1)[0]?.trim();
    out(about ? `${renderToolName(tool)}  ${about}` : renderToolName(tool));
  }
  for (const { reason } of failures) err(reason);
  return failures.length === 0 ? 0 : 1;
}

async function listResources(
  client: McpClient,
  servers: readonly string[],
  { out, err, signal }: CliContext,
): Promise<0 | 1> {
  const lists = await Promise.all(servers.map((server) => client.listResources(server, signal)));
  for (const { resources, templates } of lists) {
    for (const { server, uri, name, mimeType = '', size = '' } of resources)
      out([server, uri, visibleLine(name), mimeType, size].join('\t'));
    for (const { server, uriTemplate, name, mimeType = '' } of templates)
      out([server, uriTemplate, visibleLine(name), mimeType, ''].join('\t'));
  }
  const failures = lists.flatMap(({ failure }) => failure ?? []);
  for (const failure of failures) err(failure);
  return failures.length === 0 ? 0 : 1;
}

interface ChatDeps {
  readonly command: ChatWork;
  readonly client: McpClient;
  readonly settings: CliSettings;
  readonly context: CliContext;
  /** The names of the configured servers. */
  readonly servers: readonly string[];
}

async function runChat(deps: ChatDeps): Promise<0 | 1> {
  const { command, settings, context } = deps;
  const auditPath = command.audit ?? settings.auditPath;
  const audit = auditPath ? new AuditFile({ path: auditPath, onFailure: context.err }) : undefined;
  if (command.root !== undefined) await checkFolder(command.root);
  const document = await FileDocument.open(command.chat, { orCreate: command.kind !== 'run' });
  return withLock(document, command.chat, async () => {
    try {
      return await runLocked(deps, document, audit);
    } finally {
      await audit?.flush();
    }
  });
}

/** Links into a folder that does not exist would be reported as outside of all folders. */
async function checkFolder(root: string): Promise<void> {
  const found = await stat(root).catch(() => undefined);
  if (!found?.isDirectory()) throw new Error(`The folder ${root} (--root) does not exist. Check the path.`);
}

async function runLocked(deps: ChatDeps, document: FileDocument, audit: Audit | undefined): Promise<0 | 1> {
  const { command, context } = deps;
  await sweepChatFolder(dirname(document.path));
  const before = answers(document.text(), command.kind);
  const reported = new Set<string>();
  const listener = await createListener(deps, document, { audit, reported });
  context.signal.throwIfAborted();
  context.signal.addEventListener('abort', () => listener.stop());
  const outcome = await start(command, listener);
  for (const answer of newAnswers(before, answers(document.text(), command.kind))) context.out(answer);
  if (outcome.ok) return 0;
  const error = outcome.error ?? 'The run failed.';
  // Failed calls of a run are reported when they fail.
  if (!reported.has(error)) context.err(error);
  const step = outcome.failure && nextStep(outcome.failure);
  if (step !== undefined) context.err(step);
  return 1;
}

/** What to do about a failed run, as a sentence for the terminal. Undefined if the reason says so itself. */
export function nextStep(failure: Failure): string | undefined {
  const isOurs = failure.host === undefined && failure.kind !== 'server';
  return isOurs ? undefined : STEPS[failure.kind](failure);
}

const ANOTHER_MODEL = 'choose another model with --model';

const STEPS: Readonly<Record<FailureKind, (failure: Failure) => string>> = {
  key: ({ name }) => `Set ${keyVariable(name)} to a valid key, then run again.`,
  access: ({ name }) => `Use a key with access to this model (${keyVariable(name)}), or ${ANOTHER_MODEL}.`,
  model: () => 'Choose another model with --model, or correct it in the models file.',
  rateLimit: () => `Wait and run again, or ${ANOTHER_MODEL}.`,
  overloaded: () => `Wait and run again, or ${ANOTHER_MODEL}.`,
  credit: (failure) => {
    const page = billingPage(failure);
    return page === undefined
      ? `Add credit, or ${ANOTHER_MODEL}.`
      : `Add credit at ${page}, or ${ANOTHER_MODEL}.`;
  },
  unreachable: () => 'Start the server or correct the baseUrl, then run again.',
  certificate: () => 'Correct the baseUrl, or install the certificate, then run again.',
  lost: () => 'Run again to continue.',
  tooLong: () => `Remove turns or attachments from the chat, or ${ANOTHER_MODEL}.`,
  format: () => 'Correct the provider and baseUrl of the model.',
  failed: () => `Run again later, or ${ANOTHER_MODEL}.`,
  refused: () => `Change the chat, or ${ANOTHER_MODEL}.`,
  server: ({ server = '' }) => `Correct the entry “${server}” in the servers file, then run again.`,
};

function keyVariable(name = 'NAME'): string {
  return `FILECHAT_KEY_${toVariable(name)}`;
}

function start(command: ChatWork, listener: ChatListener): Promise<RunOutcome> {
  if (command.kind === 'call') return listener.callTool(command);
  return command.kind === 'read' ? listener.readResource(command) : listener.run();
}

/** The whole error is in the chat. */
const MAX_ERROR_CHARS = 500;
/** Longer than in the editor, because each batch writes the whole file. */
const BATCH_MS = 500;

async function createListener(
  deps: ChatDeps,
  document: FileDocument,
  { audit, reported }: { readonly audit: Audit | undefined; readonly reported: Set<string> },
): Promise<ChatListener> {
  const { command, client, settings, context, servers } = deps;
  const folder = dirname(document.path);
  // Without the current folder: running an untrusted chat must not expose its files.
  const roots = command.root === undefined ? [folder] : [folder, command.root];
  const places = { chat: document.path, text: () => document.text(), assetsIn: folder, folders: roots };
  const offered = withBuiltInTools(client, {
    placesOf: () => places,
    isOffered: () => settings.builtInTools && !servers.includes(BUILT_IN_SERVER),
  });
  const tools = withSwitches(offered, () => settings.disabledTools);
  return new ChatListener({
    document,
    assets: assetsBeside(document.path),
    tools,
    servers: client,
    consent: command.kind === 'run' ? terminalConsent(settings.approve, context) : CONSENT_GIVEN,
    insertedBy: 'commandLine',
    conversation:
      command.kind === 'run'
        ? await createConversation(command, { ...deps, tools, folder, roots })
        : undefined,
    chat: () => document.path,
    audit,
    isSwitchedOff: (tool) => isSwitchedOff(settings.disabledTools, tool),
    reviewResults: () => settings.reviewResults,
    limits: () => limitsOf(settings),
    files: new ReferencedFiles(chatFiles({ folder, roots, limits: () => limitsOf(settings) })),
    log: { info: () => {}, warn: () => {}, error: context.err },
    rescue: context.out,
    batchMs: BATCH_MS,
    onProgress: (call, progress) => {
      // Byte counts come several times a second, too often for a log.
      if (progress.bytes === undefined) context.err(`${renderToolName(call)}: ${describeProgress(progress)}`);
    },
    // The only call of another command is its outcome.
    onFailedCall: (call, error) => {
      if (command.kind !== 'run') return;
      reported.add(error);
      context.err(`${renderCallName(call)}: ${visibleLine(error.slice(0, MAX_ERROR_CHARS))}`);
    },
    onLargeFiles: (source, files) =>
      context.err(
        `Large files from ${source}: ${files}. To refuse files of this size, lower the setting filechat.results.maxAssetBytes.`,
      ),
    onReply: (progress) => reportReply(progress, context),
    onUsage: (model, usage) => {
      const used = describeUsage(usage, costOf(usage, model.price));
      // Some servers report no tokens.
      if (used !== '') context.err(`${model.name}: ${used}`);
    },
  });
}

async function createConversation(
  command: Extract<Work, { kind: 'run' }>,
  {
    tools,
    folder,
    roots,
    settings,
    context,
    servers,
  }: ChatDeps & { readonly tools: ToolHost; readonly folder: string; readonly roots: readonly string[] },
): Promise<ChatConversation> {
  const finder = await createModelFinder(command.models, settings, context);
  let model: ChatModel | undefined;
  return new ChatConversation({
    findModel: async (name) => {
      model = await finder.find(command.model ?? name);
      return model;
    },
    tools,
    attachments: chatAttachments({ folder, roots }),
    readAgent: (name) => readAgentFile(name, roots),
    maxSteps: () => settings.maxSteps,
    sendImages: () => settings['results.sendImagesToModel'],
    // The tour calls only tools of configured servers.
    servers: async () =>
      model?.provider === 'tour' || !settings.builtInTools ? servers : withBuiltInServer(servers, folder),
    hasBuiltInTools: () => settings.builtInTools && !servers.includes(BUILT_IN_SERVER),
    maxListMs: maxListMs(settings),
  });
}

function reportReply(progress: ReplyProgress, { err }: CliContext): void {
  if (progress.kind === 'asking') {
    if (progress.model === 'tour')
      err('The reply comes from the tour, which is a script and not a model. Use --model to choose a model.');
    for (const file of progress.attached ?? []) err(`Attached: ${file}`);
    for (const note of progress.notes) err(note);
  }
  if (progress.kind === 'waiting') err(`${progress.reason} Retrying in ${Math.ceil(progress.ms / 1000)} s.`);
}

/** A resource is read into the user's turn. */
function answers(text: string, kind: ChatWork['kind']): readonly string[] {
  const isAnswer = ({ role }: Turn) =>
    kind === 'read' ? role === 'user' : role === 'tool' || role === 'assistant';
  return parseChat(text)
    .turns.filter(isAnswer)
    .map((turn) => text.slice(turn.start, turn.end).trimEnd().replaceAll('\r\n', '\n'));
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

const MAX_PROGRESS_CHARS = 300;

export function describeProgress({ message, done, total }: ToolProgress): string {
  const share = done === undefined ? '' : total === undefined ? ` (${done})` : ` (${done} of ${total})`;
  // One line, so that a server cannot write lines that look like ours.
  return `${message?.replace(/\s+/g, ' ').trim().slice(0, MAX_PROGRESS_CHARS) ?? 'working'}${share}`;
}

import { stopwatch } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { appendTurns, insertIntoUserTurn, type NewTurn } from '../chat/edits/append.ts';
import type { RunOutcome, TextEdit } from '../ports/document.ts';
import type { ResultAssets, ResultPart, ToolResult } from '../ports/results.ts';
import type { PromptResult, ResourceName, ServerHost } from '../ports/servers.ts';
import type { AuditEntry, ConsentSource } from '../ports/tools.ts';
import { failureOf } from '../result/blocks.ts';
import { reportingLargeFiles } from '../result/saveBytes.ts';
import { renderForReply, renderForUser } from '../result/turnMarkdown.ts';
import { explainFailedEdit, failed, STOPPED } from './document.ts';
import type { ToolCallDeps } from './permission.ts';

export interface InsertionDeps
  extends Pick<ToolCallDeps, 'assets' | 'document' | 'log' | 'chat' | 'rescue' | 'audit' | 'onLargeFiles'> {
  readonly servers: Pick<ServerHost, 'readResource' | 'getPrompt'>;
  /** The command itself is the user's consent. By default it was run in the editor. */
  readonly insertedBy?: ConsentSource | undefined;
}

export interface PromptRequest {
  readonly server: string;
  readonly prompt: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** Inserts a resource into the user's turn: its text, links to its files, and its problems. */
export async function insertResource(
  resource: ResourceName,
  deps: InsertionDeps,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { servers, chat } = deps;
  const source: Source = { kind: 'resource', server: resource.server, name: resource.uri };
  return insert(source, deps, signal, async () => {
    const result = await receive(source, deps, (assets) =>
      servers.readResource(resource, { assets, signal, chat: chat?.() }),
    );
    const markdown = renderForUser(result.parts);
    return { ...result, edit: (text) => insertIntoUserTurn(text, markdown), markdown };
  });
}

/** Writes the messages of a prompt as turns, without the empty ones. */
export async function insertPrompt(
  request: PromptRequest,
  deps: InsertionDeps,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { servers, chat } = deps;
  const source: Source = { kind: 'prompt', server: request.server, name: request.prompt };
  return insert(source, deps, signal, async () => {
    const result = await receive(source, deps, (assets) =>
      servers.getPrompt(request, { assets, signal, chat: chat?.() }),
    );
    const turns = renderTurns(result);
    return {
      parts: result.messages.flatMap((message) => message.parts),
      edit: (text) => appendTurns(text, turns),
      markdown: appendTurns('', turns)?.text ?? '',
    };
  });
}

interface Insertion extends Pick<ToolResult, 'failure'> {
  readonly parts: readonly ResultPart[];
  readonly edit: (text: string) => TextEdit | undefined;
  /** The text to rescue if the edit fails; empty when there is nothing to insert. */
  readonly markdown: string;
}

type Source = Pick<AuditEntry, 'kind' | 'server'> & { readonly name: string };

function receive<T>(
  { server, name }: Source,
  { assets, onLargeFiles }: InsertionDeps,
  read: (assets: ResultAssets) => Promise<T>,
): Promise<T> {
  return reportingLargeFiles(assets, (files) => onLargeFiles?.(`${server} ${name}`, files), read);
}

async function insert(
  source: Source,
  deps: InsertionDeps,
  signal: AbortSignal,
  read: () => Promise<Insertion>,
): Promise<RunOutcome> {
  const elapsedMs = stopwatch();
  const name = `The ${source.kind} ${source.name} of ${source.server}`;
  const outcome = await readAndWrite(name, deps, signal, read);
  deps.audit?.record({
    ...source,
    chat: deps.chat?.(),
    consent: deps.insertedBy ?? 'asked',
    outcome: outcome.ok ? 'ok' : outcome.cancelled ? 'cancelled' : 'error',
    ms: elapsedMs(),
    assets: outcome.assets.length,
  });
  return outcome;
}

async function readAndWrite(
  name: string,
  { document, log, rescue }: InsertionDeps,
  signal: AbortSignal,
  read: () => Promise<Insertion>,
): Promise<RunOutcome> {
  // Checked before the request, which may be slow or have a cost.
  if (!insertIntoUserTurn(document.text(), '')) return failed(explainFailedEdit(document));
  let insertion: Insertion;
  try {
    insertion = await read();
  } catch (error) {
    if (signal.aborted) return STOPPED;
    log.warn(`${name}: ${messageOf(error)}`);
    return failed(messageOf(error));
  }
  if (signal.aborted) return STOPPED;
  const { parts, edit, markdown } = insertion;
  if (markdown === '') return failed(`${name} is empty. Nothing was written.`);
  const assets = parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
  if (!(await document.edit(edit))) {
    rescue?.(markdown);
    return { ok: false, error: explainFailedEdit(document), assets, lost: true };
  }
  const failure = failureOf(insertion);
  return failure === undefined ? { ok: true, assets } : { ok: false, error: failure, assets };
}

function renderTurns({ messages }: PromptResult): readonly NewTurn[] {
  return messages.flatMap(({ role, parts }) => {
    const markdown = role === 'user' ? renderForUser(parts) : renderForReply(parts);
    return markdown.trim() === '' ? [] : [{ role, markdown }];
  });
}

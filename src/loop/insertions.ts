import { messageOf } from '../base/errors.ts';
import { appendTurns, insertIntoUserTurn, type NewTurn } from '../chat/edits/append.ts';
import type { Log, RunOutcome, TextEdit } from '../ports/document.ts';
import type { AssetStore, ResultPart } from '../ports/results.ts';
import type { PromptResult, ResourceName, ServerHost } from '../ports/servers.ts';
import type { Audit, AuditEntry } from '../ports/tools.ts';

import { renderForReply, renderForUser } from '../result/turnMarkdown.ts';
import { type ChatEdits, failed, STOPPED } from './chatEdits.ts';

export interface InsertionParts {
  readonly servers: Pick<ServerHost, 'readResource' | 'getPrompt'>;
  readonly assets: AssetStore;
  readonly document: ChatEdits;
  readonly log: Log;
  /** The chat's address. */
  readonly chat?: string | undefined;
  readonly rescue?: ((markdown: string) => void) | undefined;
  readonly audit?: Audit | undefined;
}

export interface PromptRequest {
  readonly server: string;
  readonly prompt: string;
  readonly arguments: Readonly<Record<string, string>>;
}

/** Reads a resource into the user's turn, as text, links to its files, and what could not be used. */
export async function insertResource(
  resource: ResourceName,
  parts: InsertionParts,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { servers, assets, chat } = parts;
  const what: Inserted = { kind: 'resource', server: resource.server, name: resource.uri };
  return insert(what, parts, signal, async () => {
    const result = await servers.readResource(resource, { assets: assets.beginResult(), signal, chat });
    const markdown = renderForUser(result.parts);
    return {
      parts: result.parts,
      edit: (text) => (markdown === '' ? undefined : insertIntoUserTurn(text, markdown)),
      markdown,
    };
  });
}

/** Writes the messages of a prompt as turns. Messages that say nothing are left out. */
export async function insertPrompt(
  request: PromptRequest,
  parts: InsertionParts,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { servers, assets, chat } = parts;
  const what: Inserted = { kind: 'prompt', server: request.server, name: request.prompt };
  return insert(what, parts, signal, async () => {
    const result = await servers.getPrompt(request, { assets: assets.beginResult(), signal, chat });
    const turns = renderTurns(result);
    return {
      parts: result.messages.flatMap((message) => message.parts),
      edit: (text) => appendTurns(text, turns),
      markdown: appendTurns('', turns)?.text ?? '',
    };
  });
}

interface Insertion {
  readonly parts: readonly ResultPart[];
  readonly edit: (text: string) => TextEdit | undefined;
  /** What is to be written, for whoever rescues it; nothing when there is nothing. */
  readonly markdown: string;
}

type Inserted = Pick<AuditEntry, 'kind' | 'server'> & { readonly name: string };

async function insert(
  what: Inserted,
  parts: InsertionParts,
  signal: AbortSignal,
  read: () => Promise<Insertion>,
): Promise<RunOutcome> {
  const startedAtMs = Date.now();
  const outcome = await readAndWrite(`The ${what.kind} ${what.name} of ${what.server}`, parts, signal, read);
  parts.audit?.record({
    ...what,
    chat: parts.chat,
    // Whoever names it in a command has asked for it.
    consent: 'asked',
    outcome: outcome.ok ? 'ok' : outcome.cancelled ? 'cancelled' : 'error',
    ms: Date.now() - startedAtMs,
    assets: outcome.assets.length,
  });
  return outcome;
}

async function readAndWrite(
  name: string,
  { document, log, rescue }: InsertionParts,
  signal: AbortSignal,
  read: () => Promise<Insertion>,
): Promise<RunOutcome> {
  // Before the server is asked: it may be slow, and what it does may cost something.
  if (!insertIntoUserTurn(document.text(), '')) return failed(document.whyNotWritten());
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
    return { ok: false, error: document.whyNotWritten(), assets, lost: true };
  }
  const problem = parts.every((part) => part.kind === 'problem') ? parts[0] : undefined;
  return problem?.kind === 'problem' ? { ok: false, error: problem.message, assets } : { ok: true, assets };
}

function renderTurns({ messages }: PromptResult): readonly NewTurn[] {
  return messages.flatMap(({ role, parts }) => {
    const markdown = role === 'user' ? renderForUser(parts) : renderForReply(parts);
    return markdown.trim() === '' ? [] : [{ role, markdown }];
  });
}

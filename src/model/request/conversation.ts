import { setTimeout as sleep } from 'node:timers/promises';
import { trimBlankLines } from '../../base/lines.ts';
import { DEVICE_NAME } from '../../base/names.ts';
import { withoutComments } from '../../chat/format/comments.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { allowsTool, type ChatSettings, mergeSettings, readSettings } from '../../chat/format/settings.ts';
import type { AttachmentSource } from '../../ports/files.ts';
import type { ChatModel, ChatRules, Conversation, PreparedRequest } from '../../ports/models.ts';
import type { ToolHost, ToolList } from '../../ports/tools.ts';

import { type Breakdown, breakDown, type Explained } from './breakdown.ts';
import { buildRequest } from './request.ts';
import { modelTools } from './tools.ts';

export interface ConversationOptions {
  /** Rejects with a message fit for the user. Without a name, the one that is used by default. */
  readonly findModel: (name: string | undefined) => Promise<ChatModel>;
  readonly tools: ToolHost;
  readonly attachments: AttachmentSource;
  /** The text of an agent's file; nothing when there is no such agent. */
  readonly readAgent: (name: string) => Promise<string | undefined>;
  readonly sendImages?: () => 'auto' | 'always' | 'never';
  /** The user's own limit, which a chat can only lower. */
  readonly maxSteps?: () => number;
  /** The servers that there are, so that those which the chat cannot use are not started. */
  readonly servers?: () => Promise<readonly string[]>;
  /** Whether a link's path leads to this chat's own assets; a chat that is not saved has them elsewhere. */
  readonly isOwnAsset?: (path: string) => boolean;
  /** How long one server may keep a request waiting; some seconds where nothing is said. */
  readonly maxListMs?: number;
  /** Resolves after this time; rejects when nobody waits any longer. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** A person who waits for a reply would rather have it without the tools of one server. */
const MAX_LIST_MS = 10_000;

/** Knows one chat's model, tools and rules, all of which follow from its text and the user's settings. */
export class ChatConversation implements Conversation {
  readonly #options: ConversationOptions;

  constructor(options: ConversationOptions) {
    this.#options = options;
  }

  async rules(text: string): Promise<ChatRules> {
    const { settings } = await this.#settle(text);
    const limits = [settings.maxSteps, this.#options.maxSteps?.()].filter((each) => each !== undefined);
    return {
      approve: settings.approve,
      maxSteps: limits.length > 0 ? Math.min(...limits) : undefined,
      allows: (tool) => allowsTool(settings, tool),
    };
  }

  /** The model that the chat or its agent names, for what else it is asked on behalf of the chat. */
  async model(text: string): Promise<ChatModel> {
    return this.#options.findModel((await this.#settle(text)).settings.model);
  }

  async prepare(text: string, signal: AbortSignal): Promise<PreparedRequest> {
    const { model, request, notes } = await this.#build(text, signal);
    return { model, request, notes };
  }

  /** What the next request is made of. */
  async breakDown(text: string, signal: AbortSignal): Promise<Breakdown> {
    return breakDown(await this.#build(text, signal));
  }

  async #build(text: string, signal: AbortSignal): Promise<PreparedRequest & Explained> {
    const { attachments, isOwnAsset, sendImages } = this.#options;
    const { settings, agentSystem, notes: remarks } = await this.#settle(text);
    const model = await this.#options.findModel(settings.model);
    const { tools, failures, instructions = [] } = await this.#listTools(settings, signal);
    const usable = tools.filter((tool) => !tool.forAppsOnly && allowsTool(settings, tool));
    const { notes, ...built } = await buildRequest(text, {
      model,
      tools: modelTools(usable),
      instructions: instructions.filter(({ server }) => usable.some((tool) => tool.server === server)),
      attachments,
      settings,
      agentSystem,
      sendImages: sendImages?.(),
      isOwnAsset,
      signal,
    });
    const said = [...remarks, ...failures.map(({ reason }) => reason), ...notes];
    return { text, settings, model, ...built, notes: said };
  }

  /** The chat's settings over those of its agent. */
  async #settle(text: string): Promise<Settled> {
    const { settings: chat, notes } = readReliably(text, 'the front matter');
    if (chat.agent === undefined) return { settings: chat, notes };
    const found = isAgentName(chat.agent) ? await this.#options.readAgent(chat.agent) : undefined;
    if (found === undefined) {
      throw new Error(
        `There is no agent “${chat.agent}”: write one in .filechat/NAME.md, or correct “agent”.`,
      );
    }
    const about = readReliably(found, `the agent ${chat.agent}`);
    const agent = readAgent(found);
    return {
      settings: mergeSettings(agent.settings, chat),
      agentSystem: agent.system,
      notes: [...notes, ...about.notes],
    };
  }

  /** Asks only the servers that the chat may use; one that does not answer is a note, and the rest is there. */
  async #listTools(settings: ChatSettings, signal: AbortSignal): Promise<ToolList> {
    const { tools, servers } = this.#options;
    const allowed = settings.servers ?? (await servers?.());
    if (allowed === undefined) return tools.listTools(undefined, signal);
    const wanted = [...new Set(allowed)].filter((server) => canUseServer(settings, server));
    const lists = await Promise.all(wanted.map((server) => this.#listInTime(server, signal)));
    return {
      tools: lists.flatMap((list) => list.tools),
      failures: lists.flatMap((list) => list.failures),
      instructions: lists.flatMap((list) => list.instructions ?? []),
    };
  }

  /** A server that takes its time goes on with what it does, and may be there for the next request. */
  async #listInTime(server: string, signal: AbortSignal): Promise<ToolList> {
    const { tools, wait = pause, maxListMs = MAX_LIST_MS } = this.#options;
    const answered = new AbortController();
    const reason = `Server ${server} did not answer within ${maxListMs / 1000} s: this request goes without its tools.`;
    const late = wait(maxListMs, answered.signal).then(() => ({
      tools: [],
      failures: [{ server, reason }],
    }));
    try {
      return await Promise.race([tools.listTools(server, signal), late]);
    } finally {
      answered.abort();
    }
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal });
}

interface Settled {
  readonly settings: ChatSettings;
  readonly agentSystem?: string;
  readonly notes: readonly string[];
}

/** A chat whose settings cannot be read must not go to another model, or with other tools, than it was meant to. */
function readReliably(text: string, place: string): Settled {
  const { settings, problems } = readSettings(parseChat(text));
  const notes = problems.map(
    ({ offset, message }) => `Line ${text.slice(0, offset).split('\n').length} of ${place}: ${message}`,
  );
  const fatal = problems.findIndex((problem) => problem.stopsRun);
  if (fatal >= 0) throw new Error(notes[fatal]);
  return { settings, notes };
}

/** Whether any pattern of the allow list can be about a server. The first dot of a pattern divides. */
function canUseServer({ tools, agentTools }: ChatSettings, server: string): boolean {
  const isNamed = (pattern: string) => {
    const [name = ''] = pattern.split('.');
    return name.includes('*') || name === server;
  };
  return [tools, agentTools].every((patterns) => patterns?.some(isNamed) ?? true);
}

/** An agent is a file `.filechat/NAME.md`: settings at the top, and below them what the model is told. */
export interface Agent {
  readonly settings: ChatSettings;
  readonly system: string;
}

/** Letters and digits of any language, `_` and `-`: nothing that could lead to another folder. */
const AGENT_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_-]{0,63}$/u;

export function isAgentName(name: string): boolean {
  return AGENT_NAME.test(name) && !DEVICE_NAME.test(name);
}

export function readAgent(text: string): Agent {
  const plain = text.replace(/^\uFEFF/, '');
  const chat = parseChat(plain);
  const { frontMatter = '', frontMatterStart = 0 } = chat;
  const body = plain.slice(frontMatterStart + frontMatter.length);
  // What is left of the front matter is the line that closes it.
  const system = frontMatterStart > 0 ? body.replace(/^---[ \t]*(?:\r?\n|$)/, '') : body;
  return { settings: readSettings(chat).settings, system: trimBlankLines(withoutComments(system)).trim() };
}

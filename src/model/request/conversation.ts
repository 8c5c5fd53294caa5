import { BUILT_IN_SERVER, DEVICE_NAME } from '../../base/assetNames.ts';
import { trimBlankLines } from '../../base/lines.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import type { ChatProblem } from '../../chat/format/chat.ts';
import { withoutComments } from '../../chat/format/comments.ts';
import {
  allowsServer,
  allowsTool,
  type ChatSettings,
  mergeSettings,
  readSettings,
} from '../../chat/format/frontMatter.ts';
import { parseChat } from '../../chat/format/parse.ts';
import type { AttachmentSource } from '../../ports/document.ts';
import type {
  ChatModel,
  ChatRules,
  Conversation,
  ModelTool,
  OwnTool,
  PreparedRequest,
} from '../../ports/models.ts';
import type { ToolHost, ToolInfo, ToolList, ToolName } from '../../ports/tools.ts';
import { sleep } from '../providers/retry.ts';
import { type Breakdown, breakDown, type Explained } from './breakdown.ts';
import { fitDescriptions, modelTools } from './modelTools.ts';
import { buildRequest } from './request.ts';

export interface ConversationDeps {
  /** Without a name, the default model. Rejects with a message for the user. */
  readonly findModel: (name: string | undefined) => Promise<ChatModel>;
  readonly tools: ToolHost;
  readonly attachments: AttachmentSource;
  /** The text of an agent's file. */
  readonly readAgent: (name: string) => Promise<string | undefined>;
  readonly sendImages?: () => 'auto' | 'always' | 'never';
  /** The user's limit, which a chat can only lower. */
  readonly maxSteps?: () => number;
  /** The configured servers, so that only those that the chat can use are started. */
  readonly servers: () => Promise<readonly string[]>;
  /** Whether the built-in tools are offered: not if the user has configured a server of their name. */
  readonly hasBuiltInTools?: () => Promise<boolean> | boolean;
  /** Whether a path leads to this chat's assets. An unsaved chat has them elsewhere. */
  readonly isOwnAsset?: (path: string) => boolean;
  /** Whether its requests are only measured, so that text files need not be read. */
  readonly isEstimate?: boolean;
  /** How long a request waits for the tools of one server. */
  readonly maxListMs?: number;
  /** Rejects when the signal is aborted. */
  readonly wait?: (ms: number, signal: AbortSignal) => Promise<void>;
}

/** After this, a reply without the tools of a slow server is better than none. */
const MAX_LIST_MS = 10_000;

const MAX_NAMED_CUTS = 5;
const MAX_NOTED_PROBLEMS = 20;

const RESOURCE_TOOLS = ['list_resources', 'read_resource'];
const NO_TOOLS: ToolList = { tools: [], failures: [] };

/** Derives a chat's model, tools and rules from its text and the user's settings. */
export class ChatConversation implements Conversation {
  readonly #deps: ConversationDeps;
  readonly #notedCuts = new Set<string>();

  constructor(deps: ConversationDeps) {
    this.#deps = deps;
  }

  async rules(text: string): Promise<ChatRules> {
    const { settings } = await this.#settle(text);
    const { allows } = await this.#limits(settings);
    const limits = [settings.maxSteps, this.#deps.maxSteps?.()].filter((each) => each !== undefined);
    return {
      approve: settings.approve,
      maxSteps: limits.length > 0 ? Math.min(...limits) : undefined,
      allows,
      allowsServer: (server) => allowsServer(settings, server),
    };
  }

  /** The name of the model that the chat or its agent names. */
  async modelName(text: string): Promise<string | undefined> {
    return (await this.#settle(text)).settings.model;
  }

  /** The model of the chat or its agent. */
  async model(text: string): Promise<ChatModel> {
    return this.#deps.findModel(await this.modelName(text));
  }

  async tools(text: string, signal: AbortSignal): Promise<readonly ModelTool[]> {
    const { settings } = await this.#settle(text);
    return modelTools((await this.#listTools(settings, signal)).tools);
  }

  async prepare(text: string, signal: AbortSignal): Promise<PreparedRequest> {
    const { model, request, notes, failures, attached } = await this.#build(text, signal);
    return { model, request, notes, failures, attached };
  }

  async breakDown(text: string, signal: AbortSignal): Promise<Breakdown> {
    return breakDown(await this.#build(text, signal));
  }

  async #build(text: string, signal: AbortSignal): Promise<PreparedRequest & Explained> {
    const { attachments, isOwnAsset, isEstimate, sendImages } = this.#deps;
    const { settings, agentSystem, notes: settingNotes } = await this.#settle(text);
    const model = await this.#deps.findModel(settings.model);
    const listed = model.takesTools?.() === false ? NO_TOOLS : await this.#listTools(settings, signal);
    const { tools: usable, failures, instructions = [] } = listed;
    const fitted = fitDescriptions(modelTools(usable), model.maxToolDescriptionChars);
    const own = ownToolsOf(settings, model);
    const { notes, ...built } = await buildRequest(text, {
      model,
      tools: fitted.tools,
      ownTools: own.tools,
      instructions: instructions.filter(({ server }) => usable.some((tool) => tool.server === server)),
      attachments,
      settings,
      agentSystem,
      sendImages: sendImages?.(),
      isOwnAsset,
      isEstimate,
      signal,
    });
    const reasons = failures.map(({ reason }) => reason);
    const allNotes = [
      ...settingNotes,
      ...reasons,
      ...own.notes,
      ...this.#noteCuts(fitted.cut, model),
      ...notes,
    ];
    const failedServers = failures.map((each) => ({ kind: 'server', ...each }) as const);
    return { text, settings, model, ...built, notes: allNotes, failures: failedServers };
  }

  /** Says once which descriptions the model does not get whole. */
  #noteCuts(cut: readonly ToolName[], { name, maxToolDescriptionChars }: ChatModel): readonly string[] {
    const names = cut.map(renderToolName).filter((each) => !this.#notedCuts.has(each));
    for (const each of names) this.#notedCuts.add(each);
    if (names.length === 0) return [];
    const shown = names.slice(0, MAX_NAMED_CUTS).join(', ');
    const more = names.length > MAX_NAMED_CUTS ? ` and ${names.length - MAX_NAMED_CUTS} more` : '';
    return [
      `${name} accepts at most ${maxToolDescriptionChars} characters in the description of a tool. Descriptions that were cut: ${shown}${more}.`,
    ];
  }

  /** Merges the chat's settings with those of its agent. */
  async #settle(text: string): Promise<Settled> {
    const { settings: chat, notes } = readReliably(text, 'the front matter');
    if (chat.agent === undefined) return { settings: chat, notes };
    const found = isAgentName(chat.agent) ? await this.#deps.readAgent(chat.agent) : undefined;
    if (found === undefined) {
      throw new Error(
        `There is no agent “${chat.agent}”. Create it as .filechat/NAME.md, or correct “agent”.`,
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

  /**
   * The tools for resources give only what the servers of the chat offer, so a chat with a list of servers need not name
   * the built-in server for them.
   */
  async #limits(settings: ChatSettings) {
    const { servers = [], ...others } = settings;
    const readsResources = servers.length > 0 && (await this.#deps.hasBuiltInTools?.()) === true;
    const allows = (tool: ToolName) =>
      allowsTool(settings, tool) || (readsResources && isResourceTool(tool) && allowsTool(others, tool));
    return { allows, readsResources };
  }

  /** Lists the tools that the chat may use. A server that does not respond becomes a note. */
  async #listTools(settings: ChatSettings, signal: AbortSignal): Promise<ToolList> {
    const { allows, readsResources } = await this.#limits(settings);
    const named = settings.servers ?? (await this.#deps.servers());
    const wanted = new Set(named.filter((server) => allowsServer(settings, server)));
    if (wanted.size > 0 && readsResources) wanted.add(BUILT_IN_SERVER);
    const lists = await Promise.all([...wanted].map((server) => this.#listInTime(server, signal)));
    const hasResources = lists.some(({ resourceServers = [] }) => resourceServers.length > 0);
    const isUseful = ({ forAppsOnly, needsResources }: ToolInfo) =>
      !forAppsOnly && (!needsResources || hasResources);
    return {
      tools: lists.flatMap(({ tools }) => tools.filter((tool) => isUseful(tool) && allows(tool))),
      failures: lists.flatMap((list) => list.failures),
      instructions: lists.flatMap((list) => list.instructions ?? []),
    };
  }

  /** A slow server keeps starting, and may be ready for the next request. */
  async #listInTime(server: string, signal: AbortSignal): Promise<ToolList> {
    const { tools, wait = sleep, maxListMs = MAX_LIST_MS } = this.#deps;
    const answered = new AbortController();
    const reason = `Server ${server} did not respond within ${maxListMs / 1000} s, so this request is sent without its tools.`;
    const late = wait(maxListMs, answered.signal).then(() => ({
      tools: [],
      failures: [{ server, reason }],
      // It may turn out to have some.
      resourceServers: [server],
    }));
    try {
      return await Promise.race([tools.listTools(server, signal), late]);
    } finally {
      answered.abort();
    }
  }
}

const OWN_TOOLS: readonly OwnTool[] = ['web_search', 'code_execution', 'image_generation'];

/** The tools of the provider that the chat names. They cost extra, so no pattern includes them. */
function ownToolsOf(
  { tools = [], agentTools }: ChatSettings,
  { name, hasOwnTool }: ChatModel,
): { readonly tools?: readonly OwnTool[]; readonly notes: readonly string[] } {
  const isNamed = (tool: OwnTool) =>
    [tools, agentTools ?? tools].every((patterns) => patterns.includes(`provider.${tool}`));
  const wanted = OWN_TOOLS.filter(isNamed);
  const missing = wanted.filter((tool) => hasOwnTool?.(tool) !== true);
  const given = wanted.filter((tool) => !missing.includes(tool));
  return {
    ...(given.length > 0 && { tools: given }),
    notes: missing.map(
      (tool) => `The provider of ${name} has no tool “${tool}”, so the model does not get it.`,
    ),
  };
}

interface Settled {
  readonly settings: ChatSettings;
  readonly agentSystem?: string;
  readonly notes: readonly string[];
}

/** Throws for invalid settings, because the chat might otherwise go to the wrong model or with the wrong tools. */
function readReliably(text: string, place: string): Settled {
  const { settings, problems } = readSettings(parseChat(text));
  const describe = ({ offset, message }: ChatProblem) =>
    `Line ${text.slice(0, offset).split('\n').length} of ${place}: ${message}`;
  const fatal = problems.find((problem) => problem.stopsRun);
  if (fatal) throw new Error(describe(fatal));
  return { settings, notes: problems.slice(0, MAX_NOTED_PROBLEMS).map(describe) };
}

/** Letters, digits, `_` and `-`: nothing that could lead to another folder. */
const AGENT_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_-]{0,63}$/u;

export function isAgentName(name: string): boolean {
  return AGENT_NAME.test(name) && !DEVICE_NAME.test(name);
}

/** An agent is a file `.filechat/NAME.md`: front matter, then the system text. */
export function readAgent(text: string): { readonly settings: ChatSettings; readonly system: string } {
  const plain = text.replace(/^\uFEFF/, '');
  const chat = parseChat(plain);
  const { frontMatter = '', frontMatterStart = 0 } = chat;
  const body = plain.slice(frontMatterStart + frontMatter.length);
  // The body begins with the line that closes the front matter.
  const system = frontMatterStart > 0 ? body.replace(/^---[ \t]*(?:\r?\n|$)/, '') : body;
  return { settings: readSettings(chat).settings, system: trimBlankLines(withoutComments(system)).trim() };
}

function isResourceTool({ server, tool }: ToolName): boolean {
  return server === BUILT_IN_SERVER && RESOURCE_TOOLS.includes(tool);
}

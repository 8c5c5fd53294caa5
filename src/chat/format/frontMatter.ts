import { isMap, isScalar, isSeq, type Node, type Pair, parseDocument } from 'yaml';
import { BUDGET } from '../../base/budget.ts';
import type { TextEdit } from '../../ports/document.ts';
import type { Reasoning } from '../../ports/models.ts';
import type { Approval, ToolName } from '../../ports/tools.ts';
import type { Chat, ChatProblem } from './chat.ts';
import { readPreamble } from './legacy.ts';
import { parseChat } from './parse.ts';
import { insertion, lineEndOf } from './textEdit.ts';

export interface ChatSettings {
  readonly model?: string;
  readonly agent?: string;
  readonly system?: string;
  readonly servers?: readonly string[];
  readonly tools?: readonly string[];
  /** The patterns of the agent, which a tool must match as well. */
  readonly agentTools?: readonly string[];
  readonly approve?: Approval;
  readonly maxSteps?: number;
  readonly maxTokens?: number;
  readonly temperature?: number;
  readonly reasoning?: Reasoning;
  readonly title?: string;
}

interface ParsedSettings {
  readonly settings: ChatSettings;
  /** With offsets in the file. */
  readonly problems: readonly ChatProblem[];
}

/** Reads the front matter and the preamble of chat.md. Never throws; invalid settings are omitted. */
export function readSettings(
  chat: Pick<Chat, 'frontMatter' | 'frontMatterStart' | 'preamble' | 'preambleStart'>,
): ParsedSettings {
  const preamble = readPreambleSettings(chat.preamble ?? '', chat.preambleStart ?? 0);
  const front = readFrontMatter(chat.frontMatter ?? '', chat.frontMatterStart ?? 0);
  return {
    settings: { ...preamble.settings, ...front.settings },
    problems: [...front.problems, ...preamble.problems],
  };
}

/** The strictest value, used if a restricting setting is invalid. */
const STRICTEST: ChatSettings = { approve: 'ask', servers: [], tools: [] };

function readFrontMatter(yaml: string, start: number): ParsedSettings {
  const { pairs, errors } = readPairs(yaml);
  const problems: ChatProblem[] = errors.map(({ offset, message }) => ({
    offset: start + offset,
    message,
    stopsRun: true,
  }));
  let settings: ChatSettings = {};
  const seen = new Set<string>();
  for (const pair of pairs) {
    const { key, offset } = keyOf(pair);
    if (seen.has(key)) continue;
    seen.add(key);
    const read = readSetting(key, plainValue(pair.value));
    settings = { ...settings, ...read.settings };
    if (read.problem !== undefined) {
      const stopsRun = STOPS_RUN.has(key) ? { stopsRun: true } : {};
      problems.push({ offset: start + offset, message: read.problem, ...stopsRun });
    }
  }
  // If the settings cannot be read, assume the strictest approval.
  return { settings: errors.length > 0 ? { ...settings, approve: 'ask' } : settings, problems };
}

/** An invalid value of these settings stops the run. */
const STOPS_RUN: ReadonlySet<string> = new Set(['model', 'agent', 'servers', 'tools', 'approve']);

function readSetting(key: string, value: unknown): { settings: Partial<ChatSettings>; problem?: string } {
  const rule = settingRule(key);
  if (!rule) return { settings: {}, problem: unknownSetting(key) };
  if (value === null && key !== 'approve') return { settings: {} };
  const accepted = rule.accept(value);
  if (accepted !== undefined) return { settings: { [key]: accepted } };
  if (!(key in STRICTEST)) return { settings: {}, problem: `“${key}” must be ${rule.must}; it is ignored.` };
  const instead = key === 'approve' ? '“ask”' : 'an empty list';
  const settings = { [key]: STRICTEST[key as keyof ChatSettings] };
  return { settings, problem: `“${key}” must be ${rule.must}; ${instead} is used.` };
}

function unknownSetting(key: string): string {
  return `Unknown setting “${key.length > 40 ? `${key.slice(0, 40)}…` : key}”; it is ignored.`;
}

interface SettingPairs {
  readonly pairs: readonly Pair[];
  readonly errors: readonly ChatProblem[];
}

/** Aliases are not resolved, so that a few lines cannot expand to gigabytes. */
function readPairs(yaml: string): SettingPairs {
  if (yaml.length > BUDGET.frontMatterChars) return failed('The front matter is too long.');
  try {
    // The parser compares every key with every other one, so duplicates are found here.
    const document = parseDocument(yaml, { prettyErrors: false, logLevel: 'silent', uniqueKeys: false });
    const errors = document.errors.map(({ pos, message }) => invalidYaml(pos[0], message));
    const { contents } = document;
    if (isMap(contents))
      return { pairs: contents.items, errors: [...errors, ...duplicateKeys(contents.items)] };
    const isEmpty = contents === null || (isScalar(contents) && contents.value === null);
    if (isEmpty || errors.length > 0) return { pairs: [], errors };
    return failed('The front matter must contain settings such as “model: NAME”.');
  } catch {
    // Deeply nested brackets overflow the stack of the YAML parser.
    return failed('The front matter cannot be parsed.');
  }
}

function duplicateKeys(pairs: readonly Pair[]): readonly ChatProblem[] {
  const keys = pairs.map(keyOf);
  const firsts = new Map(keys.toReversed().map((each) => [each.key, each]));
  return keys
    .filter((each) => firsts.get(each.key) !== each)
    .map(({ offset }) => invalidYaml(offset, 'Map keys must be unique'));
}

function invalidYaml(offset: number, message: string): ChatProblem {
  return { offset, message: `The front matter is not valid YAML: ${message}` };
}

function failed(message: string): SettingPairs {
  return { pairs: [], errors: [{ offset: 0, message }] };
}

function keyOf(pair: Pair): { readonly key: string; readonly offset: number } {
  const node = pair.key;
  return { key: isScalar(node) ? String(node.value) : '', offset: startOf(node) };
}

function startOf(node: unknown): number {
  return (node as Node | null)?.range?.[0] ?? 0;
}

/** Scalars and lists of scalars; no setting accepts anything else. */
function plainValue(node: unknown): unknown {
  if (node === null || node === undefined) return null;
  if (isScalar(node)) return node.value;
  return isSeq(node) ? node.items.map((item) => (isScalar(item) ? item.value : undefined)) : undefined;
}

const EFFORTS: ReadonlyMap<string, Reasoning> = new Map<string, Reasoning>([
  ['none', 'off'],
  ['minimal', 'low'],
  ['low', 'low'],
  ['medium', 'medium'],
  ['high', 'high'],
]);

function readPreambleSettings(preamble: string, start: number): ParsedSettings {
  const problems: ChatProblem[] = [];
  let settings: ChatSettings = {};
  for (const { key, value, offset } of readPreamble(preamble)) {
    const read = readPreambleEntry(key, value);
    settings = { ...settings, ...read.settings };
    if (read.problem !== undefined) problems.push({ offset: start + offset, message: read.problem });
  }
  return { settings, problems };
}

function readPreambleEntry(key: string, value: string): ReturnType<typeof readSetting> {
  if (key === 'selectedConfig') return readSetting('model', value);
  if (key === 'maxTokens') return readSetting('maxTokens', Number(value));
  if (key === 'reasoningEffort') return readSetting('reasoning', EFFORTS.get(value.toLowerCase()));
  return { settings: {}, problem: unknownSetting(key) };
}

/** The chat's settings override the agent's, but restrictions of both apply. */
export function mergeSettings(agent: ChatSettings, chat: ChatSettings): ChatSettings {
  const { servers: agentServers, tools: agentTools } = agent;
  const approve = agent.approve === undefined ? chat.approve : strictest(agent.approve, chat.approve);
  const steps = [agent.maxSteps, chat.maxSteps].filter((each) => each !== undefined);
  const servers = chat.servers?.filter((server) => agentServers?.includes(server) ?? true) ?? agentServers;
  return {
    ...agent,
    ...chat,
    ...(approve === undefined ? {} : { approve }),
    ...(servers === undefined ? {} : { servers }),
    ...(steps.length === 0 ? {} : { maxSteps: Math.min(...steps) }),
    ...(agentTools && chat.tools ? { agentTools } : {}),
  };
}

/** Whether the settings allow a tool. `*` in a pattern matches any characters. */
export function allowsTool({ servers, tools, agentTools }: ChatSettings, tool: ToolName): boolean {
  if (servers && !servers.includes(tool.server)) return false;
  return [tools, agentTools].every(
    (patterns) => patterns?.some((pattern) => matchesTool(pattern, tool)) ?? true,
  );
}

/** Whether the settings allow a server, and at least one pattern for tools can match its name. */
export function allowsServer({ servers, tools, agentTools }: ChatSettings, server: string): boolean {
  if (servers && !servers.includes(server)) return false;
  const isNamed = (pattern: string) => {
    const [name = ''] = pattern.split('.');
    return name.includes('*') || name === server;
  };
  return [tools, agentTools].every((patterns) => patterns?.some(isNamed) ?? true);
}

/** The first dot separates server and tool, as in a call. A pattern without a dot matches the whole name. */
function matchesTool(pattern: string, { server, tool }: ToolName): boolean {
  const dot = pattern.indexOf('.');
  if (dot < 0) return matchesGlob(pattern, `${server}.${tool}`);
  return matchesGlob(pattern.slice(0, dot), server) && matchesGlob(pattern.slice(dot + 1), tool);
}

/** Not a regular expression, to avoid catastrophic backtracking with many stars. */
function matchesGlob(pattern: string, name: string): boolean {
  const [first = '', ...rest] = pattern.split('*');
  const last = rest.pop();
  if (last === undefined) return first === name;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const piece of rest) {
    const found = name.indexOf(piece, at);
    if (found < 0) return false;
    at = found + piece.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

export type SettingValue = string | number | readonly string[];

/** Sets one setting and leaves the rest unchanged. Adds front matter if there is none. */
export function setFrontMatter(
  chatText: string,
  key: keyof ChatSettings,
  value: SettingValue,
  chat: Pick<Chat, 'frontMatter' | 'frontMatterStart'> = parseChat(chatText),
): TextEdit {
  const { frontMatter, frontMatterStart = 0 } = chat;
  const eol = lineEndOf(chatText);
  const line = `${key}: ${renderValue(value)}`;
  if (frontMatter === undefined) return insertion(0, `---${eol}${line}${eol}---${eol}`);
  const edit = setInYaml(frontMatter, key, line, eol);
  return { ...edit, start: frontMatterStart + edit.start, end: frontMatterStart + edit.end };
}

function setInYaml(yaml: string, key: string, line: string, eol: string): TextEdit {
  const pairs = readPairs(yaml).pairs;
  const pair = pairs.find((each) => keyOf(each).key === key);
  if (pair) return { ...rangeOfPair(yaml, pair), text: line };
  // In a flow mapping, insert after the opening brace.
  const brace = /^\s*\{/.exec(yaml)?.[0].length;
  if (brace !== undefined && pairs.length > 0) return insertion(brace, `${line}, `);
  return insertion(yaml.length, `${line}${eol}`);
}

/** From the key to the end of its value, without the trailing line end of a block scalar. */
function rangeOfPair(yaml: string, { key, value }: Pair): Pick<TextEdit, 'start' | 'end'> {
  const start = startOf(key);
  const keyEnd = yaml.indexOf(':', (key as Node | null)?.range?.[1] ?? start) + 1;
  const valueEnd = (value as Node | null)?.range?.[1] ?? keyEnd;
  const written = yaml.slice(start, Math.max(keyEnd, valueEnd));
  return { start, end: start + written.trimEnd().length };
}

/** Quoted unless it is an unambiguous word. */
export function renderValue(value: SettingValue): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return `[${value.map(renderValue).join(', ')}]`;
  const isWord = /^[A-Za-z][\w./@-]*$/.test(value) && !/^(?:true|false|null|yes|no|on|off|y|n)$/i.test(value);
  return isWord || value === 'off' ? value : JSON.stringify(value);
}

export type SettingKey = Exclude<keyof ChatSettings, 'agentTools'>;

interface SettingRule {
  /** For the sentence “… must be …”. */
  readonly must: string;
  readonly choices?: readonly string[];
  readonly isList?: boolean;
  /** The value to use, or `undefined` if it is invalid. */
  readonly accept: (value: unknown) => ChatSettings[SettingKey];
}

const TEXT: SettingRule = {
  must: 'text',
  accept: (value) => (typeof value === 'string' && value.trim() !== '' ? value : undefined),
};
const COUNT: SettingRule = {
  must: 'a whole number of at least 1',
  accept: (value) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined),
};
const LIST: SettingRule = {
  must: 'a list of names',
  isList: true,
  accept: (value) => {
    const items: readonly unknown[] = Array.isArray(value) ? value : [value];
    return items.every((item) => typeof item === 'string') ? items : undefined;
  },
};
const MAX_TEMPERATURE = 2;
const TEMPERATURE: SettingRule = {
  must: `a number from 0 to ${MAX_TEMPERATURE}`,
  accept: (value) =>
    typeof value === 'number' && value >= 0 && value <= MAX_TEMPERATURE ? value : undefined,
};

/** The strictest first. */
const APPROVALS = ['ask', 'auto-readonly', 'auto'] as const satisfies readonly Approval[];
const REASONINGS = ['off', 'low', 'medium', 'high'] as const satisfies readonly Reasoning[];
const RULES: Readonly<Record<SettingKey, SettingRule>> = {
  model: TEXT,
  agent: TEXT,
  system: TEXT,
  title: TEXT,
  servers: LIST,
  tools: LIST,
  maxSteps: COUNT,
  maxTokens: COUNT,
  temperature: TEMPERATURE,
  approve: choice(APPROVALS, 'ask, auto-readonly or auto'),
  reasoning: choice(REASONINGS, 'off, low, medium or high'),
};

function choice<T extends Approval | Reasoning>(choices: readonly T[], must: string): SettingRule {
  return { choices, must, accept: (value) => choices.find((each) => each === value) };
}

/** In the order in which completion offers them. */
export const SETTING_KEYS = Object.keys(RULES) as readonly SettingKey[];

export function settingRule(key: string): SettingRule | undefined {
  return isSettingKey(key) ? RULES[key] : undefined;
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(RULES, key);
}

/** The stricter of both. A chat can only tighten the user's setting. */
export function strictest(user: Approval, chat: Approval | undefined): Approval {
  return APPROVALS.find((each) => each === user || each === chat) ?? 'ask';
}

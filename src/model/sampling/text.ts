/**
 * What a server asks a model, and what the model answers, as text that a person can read and change. Lines that
 * begin with `# %%` divide it as they divide a chat; in foreign words such lines get a backslash.
 */

import { parseArguments } from '../../chat/format/calls.ts';
import { restoreInvisible, showInvisible } from '../../chat/format/escape.ts';
import type { SamplingAnswer, SamplingMessage, SamplingPart, SamplingRequest } from '../../ports/requests.ts';

import { describeMedia } from './messages.ts';

export interface Problem {
  /** A sentence for the user: what in the text cannot be read, and what to do. */
  readonly problem: string;
}

export function renderSampling(request: SamplingRequest): string {
  const { system, messages, tools = [] } = request;
  const media = new Map(mediaOf(request).map(({ part, line }) => [part, line]));
  const blocks = [
    describeLimits(request),
    ...(system === undefined ? [] : ['# %% system', textBlock(system)]),
    ...messages.flatMap(({ role, parts }) => [`# %% ${role}`, ...partBlocks(parts, media)]),
    ...(tools.length === 0 ? [] : ['# %% tools', tools.map(toolLines).join('\n')]),
  ];
  return showInvisible(`${blocks.join('\n\n')}\n`);
}

/** Unchanged text gives the same request. What the text does not show, such as pictures, comes from the request. */
export function readEditedSampling(text: string, request: SamplingRequest): SamplingRequest | Problem {
  try {
    const sections = readSections(text);
    const reader = new PartReader(request);
    const messages: SamplingMessage[] = [];
    let system: string | undefined;
    let tools: SamplingRequest['tools'];
    for (const section of sections) {
      if (section.word === 'system') system = readText(section) ?? '';
      else if (section.word === 'tools') tools = keptTools(section, request);
      else reader.read(section, messages);
    }
    const { system: _, messages: __, tools: asked, ...rest } = request;
    const left = asked && (tools ?? []);
    return {
      ...rest,
      ...(system === undefined ? {} : { system }),
      messages,
      ...(left ? { tools: left } : {}),
    };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

export function renderAnswer({ model, parts }: SamplingAnswer): string {
  const about = `This is what ${oneLine(model)} answers. Nothing of it has been sent to the server yet.`;
  return showInvisible(`${[about, '# %% assistant', ...partBlocks(parts, new Map())].join('\n\n')}\n`);
}

export function readEditedAnswer(text: string, answer: SamplingAnswer): SamplingAnswer | Problem {
  const read = readEditedSampling(text, { messages: [], maxTokens: 1, hints: [] });
  if ('problem' in read) return read;
  const [message, ...others] = read.messages;
  if (message?.role !== 'assistant' || others.length > 0 || read.system !== undefined) {
    return { problem: 'An answer is one part that begins with “# %% assistant”.' };
  }
  const { parts } = message;
  if (callCount(parts) === callCount(answer.parts)) return { ...answer, parts };
  return { ...answer, parts, stopReason: callCount(parts) > 0 ? 'toolUse' : 'endTurn' };
}

class Unreadable extends Error {}

/** Between the words of a text and the next line of ours is an empty line, which belongs to neither. */
function textBlock(text: string): string {
  return text.replace(LIKE_OURS, '\\$1');
}

/** A wider net than what is read as ours, so that nothing foreign can slip through. */
const LIKE_OURS = /^(\\*(?:#[ \t]*%%|\[(?:image|audio) \d+:))/gm;
const ESCAPED = /^\\(\\*(?:#[ \t]*%%|\[(?:image|audio) \d+:))/gm;

function partBlocks(
  parts: readonly SamplingPart[],
  media: ReadonlyMap<SamplingPart, string>,
): readonly string[] {
  return parts.flatMap((part, at): readonly string[] => {
    switch (part.kind) {
      case 'text':
        return [...(parts[at - 1]?.kind === 'text' ? ['# %% text'] : []), textBlock(part.text)];
      case 'call': {
        const { id, name, arguments: args } = part;
        const json = JSON.stringify(args, undefined, 2);
        return [
          `# %% call ${JSON.stringify({ id, name })}`,
          `\`\`\`json\n${json}\n\`\`\``,
          ...endCall(parts[at + 1]),
        ];
      }
      case 'result': {
        const { id, isError } = part;
        return [`# %% result ${JSON.stringify({ id, isError })}`, ...partBlocks(part.parts, media)];
      }
      default:
        return [media.get(part) ?? ''];
    }
  });
}

/** What follows a call without a heading of its own needs a line that says where the call ends. */
function endCall(next: SamplingPart | undefined): readonly string[] {
  return next && next.kind !== 'call' ? ['# %% text'] : [];
}

function toolLines({ name, description }: { readonly name: string; readonly description: string }): string {
  const about = oneLine(description).slice(0, 300).toWellFormed();
  return [toolLine(name), ...(about === '' ? [] : [`  ${about}`])].join('\n');
}

function toolLine(name: string): string {
  return `- ${JSON.stringify(name)}`;
}

function describeLimits({
  maxTokens,
  temperature,
  stopSequences = [],
  hints,
  toolChoice,
}: SamplingRequest): string {
  const limits = [
    `at most ${maxTokens} tokens`,
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(stopSequences.length === 0 ? [] : [`up to ${JSON.stringify(stopSequences)}`]),
    ...(hints.length === 0
      ? []
      : [`preferably from ${hints.map((hint) => JSON.stringify(hint)).join(' or ')}`]),
    ...(toolChoice === undefined ? [] : [`tools: ${toolChoice}`]),
  ];
  return `This is what the server wants to ask. It wants an answer of ${limits.join(', ')}.`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

interface Section {
  readonly word: string;
  /** What stands behind the word. */
  readonly rest: string;
  readonly lines: readonly string[];
  /** Of its heading, from 1. */
  readonly at: number;
}

/** What stands before the first heading is ours and says nothing to the model. */
function readSections(text: string): readonly Section[] {
  const sections: (Section & { readonly lines: string[] })[] = [];
  for (const [index, line] of text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n').entries()) {
    const heading = /^#[ \t]*%%[ \t]*(\S*)(.*)$/.exec(line);
    if (!heading) sections.at(-1)?.lines.push(line);
    else sections.push({ word: heading[1] ?? '', rest: (heading[2] ?? '').trim(), lines: [], at: index + 1 });
  }
  // The last text has no empty line behind it.
  sections.at(-1)?.lines.push('');
  return sections;
}

function readText({ lines }: Pick<Section, 'lines'>): string | undefined {
  const from = lines[0] === '' ? 1 : 0;
  const to = lines.length > from && lines.at(-1) === '' ? -1 : lines.length;
  const text = lines.slice(from, to);
  return text.length === 0 ? undefined : restoreInvisible(text.join('\n')).replace(ESCAPED, '$1');
}

function keptTools({ lines }: Section, { tools = [] }: SamplingRequest): SamplingRequest['tools'] {
  const kept = new Set(lines.map((line) => restoreInvisible(line)));
  return tools.filter(({ name }) => kept.has(toolLine(name)));
}

/** Numbered through the request, each kind for itself. */
function mediaOf({
  messages,
}: SamplingRequest): readonly { readonly part: SamplingPart; readonly line: string }[] {
  const counts = { image: 0, audio: 0 };
  const within = (part: SamplingPart): readonly { part: SamplingPart; line: string }[] => {
    if (part.kind === 'result') return part.parts.flatMap(within);
    if (part.kind !== 'image' && part.kind !== 'audio') return [];
    counts[part.kind] += 1;
    return [{ part, line: describeMedia(part, counts[part.kind]) }];
  };
  return messages.flatMap(({ parts }) => parts.flatMap(within));
}

const MEDIA_LINE = /^\[(image|audio) (\d+):.*\]$/;

class PartReader {
  readonly #media: ReadonlyMap<string, SamplingPart>;
  #result: SamplingPart[] | undefined;

  constructor(request: SamplingRequest) {
    this.#media = new Map(mediaOf(request).map(({ part, line }) => [mediaKey(line), part]));
  }

  read(
    section: Section,
    messages: { role: SamplingMessage['role']; parts: readonly SamplingPart[] }[],
  ): void {
    const { word, at } = section;
    if (word === 'user' || word === 'assistant') {
      this.#result = undefined;
      messages.push({ role: word, parts: this.#bodyParts(section) });
      return;
    }
    const last = messages.at(-1);
    if (!last) throw new Unreadable(`Line ${at}: begin with “# %% user” or “# %% assistant”.`);
    const added = this.#addedParts(section);
    if (word === 'text' && this.#result) this.#result.push(...added);
    else messages[messages.length - 1] = { role: last.role, parts: [...last.parts, ...added] };
  }

  #addedParts(section: Section): readonly SamplingPart[] {
    const { word, rest, at } = section;
    switch (word) {
      case 'text':
        return this.#bodyParts(section);
      case 'call':
        this.#result = undefined;
        return [readCall(section)];
      case 'result': {
        this.#result = [...this.#bodyParts(section)];
        const head = readHead(rest);
        const id = textIn(head, 'id', at);
        return [{ kind: 'result', id, isError: head['isError'] === true, parts: this.#result }];
      }
      default:
        throw new Unreadable(
          `Line ${at}: “# %% ${word}” begins nothing that is known here. If it belongs to the text, put a backslash before it.`,
        );
    }
  }

  /** Text, and the lines that stand for pictures and sounds. */
  #bodyParts({ lines, at }: Section): readonly SamplingPart[] {
    const parts: SamplingPart[] = [];
    let text: string[] = [];
    const endText = () => {
      const read = readText({ lines: text });
      if (read !== undefined) parts.push({ kind: 'text', text: read });
      text = [];
    };
    for (const [index, line] of lines.entries()) {
      if (!MEDIA_LINE.test(line)) {
        text.push(line);
        continue;
      }
      endText();
      const part = this.#media.get(mediaKey(line));
      if (!part) throw new Unreadable(`Line ${at + index + 1}: the request has no ${mediaKey(line)}.`);
      parts.push(part);
    }
    endText();
    return parts;
  }
}

function mediaKey(line: string): string {
  const [, kind = '', number = ''] = MEDIA_LINE.exec(line) ?? [];
  return `${kind} ${number}`;
}

function readHead(rest: string): Readonly<Record<string, unknown>> {
  const read = parseArguments(restoreInvisible(rest));
  return read.ok ? read.value : {};
}

function textIn(head: Readonly<Record<string, unknown>>, key: string, at: number): string {
  const value = head[key];
  if (typeof value !== 'string')
    throw new Unreadable(`Line ${at}: its “${key}” is missing, or is not a string.`);
  return value;
}

function readCall(section: Section): SamplingPart {
  const head = readHead(section.rest);
  const [id, name] = [textIn(head, 'id', section.at), textIn(head, 'name', section.at)];
  return { kind: 'call', id, name, arguments: readJson(section) };
}

function readJson({ lines, at }: Section): Readonly<Record<string, unknown>> {
  const json = lines.filter((line) => !/^\s*`{3}/.test(line)).join('\n');
  const read = parseArguments(restoreInvisible(json));
  if (!read.ok) throw new Unreadable(`Below line ${at}: ${read.message}`);
  return read.value;
}

function callCount(parts: readonly SamplingPart[]): number {
  return parts.filter(({ kind }) => kind === 'call').length;
}

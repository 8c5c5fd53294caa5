import { parseArguments } from '../../chat/format/callInfo.ts';
import { restoreInvisible, showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { SamplingAnswer, SamplingMessage, SamplingPart, SamplingRequest } from '../../ports/servers.ts';
import { describeMedia } from './answerSampling.ts';

interface Problem {
  /** A sentence for the user. */
  readonly problem: string;
}

/** A request as text to read and edit. Lines with `# %%` divide it, as in a chat; in its text they get a backslash. */
export function renderSampling(request: SamplingRequest): string {
  const { system, messages, tools = [] } = request;
  const media = new Map(mediaOf(request));
  const blocks = [
    describeLimits(request),
    ...(system === undefined ? [] : ['# %% system', textBlock(system)]),
    ...messages.flatMap(({ role, parts }) => [`# %% ${role}`, ...partBlocks(parts, media)]),
    ...(tools.length === 0 ? [] : ['# %% tools', tools.map(toolLines).join('\n')]),
  ];
  return showInvisible(`${blocks.join('\n\n')}\n`);
}

/** Unchanged text gives the same request. Images and other parts that the text does not show are kept. */
export function readEditedSampling(text: string, request: SamplingRequest): SamplingRequest | Problem {
  try {
    const sections = readSections(text);
    const system = sections.findLast(({ word }) => word === 'system');
    const tools = sections.findLast(({ word }) => word === 'tools');
    const others = sections.filter(({ word }) => word !== 'system' && word !== 'tools');
    const { system: _, messages: __, tools: offered, ...rest } = request;
    return {
      ...rest,
      ...(system && { system: readBody(system.lines) ?? '' }),
      messages: readMessages(others, request),
      ...(offered && { tools: tools ? keptTools(tools, offered) : [] }),
    };
  } catch (error) {
    if (error instanceof Unreadable) return { problem: error.message };
    throw error;
  }
}

export function renderAnswer({ model, parts }: SamplingAnswer): string {
  const about = `This is the response of ${oneLine(model)}. It has not been sent to the server yet.`;
  return showInvisible(`${[about, '# %% assistant', ...partBlocks(parts, new Map())].join('\n\n')}\n`);
}

export function readEditedAnswer(text: string, answer: SamplingAnswer): SamplingAnswer | Problem {
  const read = readEditedSampling(text, { messages: [], maxTokens: 1, hints: [] });
  if ('problem' in read) return read;
  const [message, ...others] = read.messages;
  if (message?.role !== 'assistant' || others.length > 0 || read.system !== undefined) {
    return { problem: 'The response must be a single part that begins with “# %% assistant”.' };
  }
  const { parts } = message;
  if (callCount(parts) === callCount(answer.parts)) return { ...answer, parts };
  return { ...answer, parts, stopReason: callCount(parts) > 0 ? 'toolUse' : 'endTurn' };
}

class Unreadable extends Error {}

function textBlock(text: string): string {
  return text.replace(LIKE_SYNTAX, '\\$1');
}

/** Matches more than the reader accepts, so that no text can pass for a heading or an image. */
const LIKE_SYNTAX = /^(\\*(?:#[ \t]*%%|\[(?:image|audio) \d+:))/gm;
const ESCAPED = /^\\(\\*(?:#[ \t]*%%|\[(?:image|audio) \d+:))/gm;

function partBlocks(
  parts: readonly SamplingPart[],
  media: ReadonlyMap<SamplingPart, string>,
): readonly string[] {
  return parts.flatMap((part, at): readonly string[] => {
    switch (part.kind) {
      case 'text':
        return [...(parts[at - 1]?.kind === 'text' ? ['# %% text'] : []), textBlock(part.text)];
      case 'call':
        return [
          `# %% call ${JSON.stringify({ id: part.id, name: part.name })}`,
          `\`\`\`json\n${JSON.stringify(part.arguments, undefined, 2)}\n\`\`\``,
          ...endCall(parts[at + 1]),
        ];
      case 'result':
        return [
          `# %% result ${JSON.stringify({ id: part.id, isError: part.isError })}`,
          ...partBlocks(part.parts, media),
        ];
      default:
        return [media.get(part) ?? ''];
    }
  });
}

/** Marks the end of a call before a part without a heading. */
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

function describeLimits(request: SamplingRequest): string {
  const { maxTokens, temperature, stopSequences = [], toolChoice } = request;
  const hints = request.hints.map((hint) => JSON.stringify(hint));
  const limits = [
    `at most ${maxTokens} tokens`,
    ...(temperature === undefined ? [] : [`temperature ${temperature}`]),
    ...(stopSequences.length === 0 ? [] : [`up to ${JSON.stringify(stopSequences)}`]),
    ...(hints.length === 0 ? [] : [`preferably from ${hints.join(' or ')}`]),
    ...(toolChoice === undefined ? [] : [`tools: ${toolChoice}`]),
  ];
  return `This is the request of the server. It asks for a response with ${limits.join(', ')}.`;
}

function oneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

interface Section {
  readonly word: string;
  /** The rest of the heading. */
  readonly rest: string;
  readonly lines: readonly string[];
  /** The line of the heading, from 1. */
  readonly at: number;
}

/** Skips the lines above the first heading, which are for the user. */
function readSections(text: string): readonly Section[] {
  const sections: (Section & { readonly lines: string[] })[] = [];
  for (const [index, line] of text.replace(/\r\n?/g, '\n').replace(/\n$/, '').split('\n').entries()) {
    const heading = /^#[ \t]*%%[ \t]*(\S*)(.*)$/.exec(line);
    if (!heading) sections.at(-1)?.lines.push(line);
    else sections.push({ word: heading[1] ?? '', rest: (heading[2] ?? '').trim(), lines: [], at: index + 1 });
  }
  // The last section has no blank line after it.
  sections.at(-1)?.lines.push('');
  return sections;
}

/** Without the blank lines around the text. */
function readBody(lines: readonly string[]): string | undefined {
  const from = lines[0] === '' ? 1 : 0;
  const to = lines.length > from && lines.at(-1) === '' ? -1 : lines.length;
  const text = lines.slice(from, to);
  return text.length === 0 ? undefined : restoreInvisible(text.join('\n')).replace(ESCAPED, '$1');
}

type Tools = NonNullable<SamplingRequest['tools']>;

function keptTools({ lines }: Section, tools: Tools): Tools {
  const kept = new Set(lines.map((line) => restoreInvisible(line)));
  return tools.filter(({ name }) => kept.has(toolLine(name)));
}

/** Images and audio with their placeholder lines, numbered through the request for each kind. */
function mediaOf({ messages }: SamplingRequest): readonly (readonly [SamplingPart, line: string])[] {
  const counts = { image: 0, audio: 0 };
  const within = (part: SamplingPart): ReturnType<typeof mediaOf> => {
    if (part.kind === 'result') return part.parts.flatMap(within);
    if (part.kind !== 'image' && part.kind !== 'audio') return [];
    counts[part.kind] += 1;
    return [[part, describeMedia(part, counts[part.kind])]];
  };
  return messages.flatMap(({ parts }) => parts.flatMap(within));
}

const MEDIA_LINE = /^\[(image|audio) (\d+):.*\]$/;

type MediaByKey = ReadonlyMap<string, SamplingPart>;

function readMessages(sections: readonly Section[], request: SamplingRequest): readonly SamplingMessage[] {
  const media: MediaByKey = new Map(mediaOf(request).map(([part, line]) => [mediaKey(line), part]));
  const messages: { readonly role: SamplingMessage['role']; readonly parts: SamplingPart[] }[] = [];
  /** The parts of the result to which a “text” section belongs. */
  let result: SamplingPart[] | undefined;
  for (const section of sections) {
    const { word, at } = section;
    if (word === 'user' || word === 'assistant') {
      result = undefined;
      messages.push({ role: word, parts: readParts(section, media) });
      continue;
    }
    const parts = messages.at(-1)?.parts;
    if (!parts) throw new Unreadable(`Line ${at}: begin with “# %% user” or “# %% assistant”.`);
    if (word === 'text') (result ?? parts).push(...readParts(section, media));
    else if (word === 'call') {
      result = undefined;
      parts.push(readCall(section));
    } else if (word === 'result') {
      result = readParts(section, media);
      parts.push(readResult(section, result));
    } else {
      const advice = 'To keep it as text, put a backslash before it.';
      throw new Unreadable(`Line ${at}: “# %% ${word}” is unknown. ${advice}`);
    }
  }
  return messages;
}

/** Text, and the lines in place of images and audio. */
function readParts({ lines, at }: Section, media: MediaByKey): SamplingPart[] {
  const parts: SamplingPart[] = [];
  let text: string[] = [];
  const endText = () => {
    const read = readBody(text);
    if (read !== undefined) parts.push({ kind: 'text', text: read });
    text = [];
  };
  for (const [index, line] of lines.entries()) {
    if (!MEDIA_LINE.test(line)) {
      text.push(line);
      continue;
    }
    endText();
    const part = media.get(mediaKey(line));
    if (!part) throw new Unreadable(`Line ${at + index + 1}: the request has no ${mediaKey(line)}.`);
    parts.push(part);
  }
  endText();
  return parts;
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

function readResult({ rest, at }: Section, parts: readonly SamplingPart[]): SamplingPart {
  const head = readHead(rest);
  return { kind: 'result', id: textIn(head, 'id', at), isError: head['isError'] === true, parts };
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

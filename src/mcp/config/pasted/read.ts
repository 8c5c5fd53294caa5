import { isObject } from '../../../base/json.ts';
import { readServers } from '../readServers.ts';
import { readAddCommand, splitAddCommands } from './addCommands.ts';
import { readCommandLine } from './commandLine.ts';
import { readJsonText, readServersJson } from './json.ts';
import { isInstallLink, readInstallLink } from './links.ts';
import { suggestName, toServerName } from './names.ts';
import { freeName, nameServer, normalizeEntry } from './normalize.ts';
import { type Pasted, type PastedServer, PasteError, type RawServers } from './types.ts';
import { splitWords } from './words.ts';

const MAX_CHARS = 200_000;
const MAX_SERVERS = 100;

/**
 * Reads what people copy from a README, another host or a terminal: a command line, addresses, JSON, install links, or
 * lines such as `claude mcp add`. Starts nothing and never throws.
 */
export function readPasted(text: string): Pasted {
  return guarded(() => {
    if (text.length > MAX_CHARS) throw new PasteError({ kind: 'tooLong', maxChars: MAX_CHARS });
    return checkServers(readText(withoutWrapping(text)));
  });
}

/** Reads a configuration file of another host, which may be long. */
export function readPastedFile(text: string): Pasted {
  return guarded(() => checkServers(readJsonText(text)));
}

/** Reads a value that is JSON already. */
export function readPastedJson(json: unknown): Pasted {
  return guarded(() => checkServers(readServersJson(json)));
}

function guarded(read: () => Pasted): Pasted {
  try {
    return read();
  } catch (error) {
    if (error instanceof PasteError) return { kind: 'problem', problem: error.problem };
    throw error;
  }
}

/** Without a byte order mark, the fence of a code block, the prompt of a shell, or the badge around a link. */
function withoutWrapping(text: string): string {
  const plain = text.replace(/^\uFEFF/, '').trim();
  const fenced =
    /^(`{3,})[\w-]*\s+([\s\S]*?)\s*\1$/.exec(plain)?.[2] ?? /^`([^`]+)`$/.exec(plain)?.[1] ?? plain;
  const linked = /^!?\[[\s\S]*\]\((\S+)\)$/.exec(fenced)?.[1] ?? fenced;
  return linked.replace(/^[$>]\s+/, '');
}

function readText(text: string): RawServers {
  if (text === '') throw new PasteError({ kind: 'empty' });
  if (/^\[+\s*"?mcp_servers\b/.test(text)) throw new PasteError({ kind: 'toml' });
  if (/^(?:[{[]|"[^"]*"\s*:\s*[{[]|\/[/*])/.test(text)) return readJsonText(text);
  const lines = splitAddCommands(text);
  if (lines)
    return join(lines.map((line) => readAddCommand(wordsOf(line), (json) => readJsonText(json).servers)));
  // Before quotes are read: the JSON in a link may not be encoded.
  const links = text.split(/\s+(?=[a-z-]+:)/i);
  if (links.every(isInstallLink)) return join(links.map((link) => readInstallLink(link, readJsonText)));
  const words = wordsOf(text);
  if (words.every((word) => readAddress(word) !== undefined)) {
    return { servers: words.map((word) => ({ entry: { url: readAddress(word) } })) };
  }
  // VS Code's own command line.
  const at = words.indexOf('--add-mcp');
  if (at > 0) return readJsonText(words[at + 1] ?? '');
  return { servers: [readCommandLine(words)] };
}

/** Without the characters that continue a line in a shell, which stand alone once the line breaks are lost. */
function wordsOf(text: string): readonly string[] {
  const line = text.replace(/[\\^`][ \t]*\r?\n/g, ' ').replace(/\s[\\^`](?=\s|$)/g, ' ');
  return splitWords(line);
}

function join(parts: readonly RawServers[]): RawServers {
  return {
    servers: parts.flatMap(({ servers }) => servers),
    inputs: parts.flatMap(({ inputs = [] }) => inputs),
    isForWorkspace: parts.some(({ isForWorkspace }) => isForWorkspace),
  };
}

/** Pages about servers, which people copy instead of their addresses. */
const PAGES = /^(?:www\.)?(?:github\.com|npmjs\.com|pypi\.org|smithery\.ai|glama\.ai|hub\.docker\.com)$/;

/** The address in a word; also without its scheme, if it can be nothing else. */
function readAddress(word: string): string | undefined {
  const scheme = /^([a-z][a-z\d+.-]*):\/\//i.exec(word)?.[1]?.toLowerCase();
  if (scheme === undefined) {
    if (/^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)(?:\/|$)/.test(word)) return `http://${word}`;
    return /^[\w-]+(?:\.[\w-]+)+(?::\d+)?\/(?:mcp|sse)\b/.test(word) ? `https://${word}` : undefined;
  }
  if (!/^https?$/.test(scheme) || !URL.canParse(word)) throw new PasteError({ kind: 'address', text: word });
  const url = new URL(word);
  if (url.username !== '' || url.password !== '') throw new PasteError({ kind: 'userInfo' });
  if (PAGES.test(url.hostname)) throw new PasteError({ kind: 'webPage', host: url.hostname });
  return word;
}

/** Each invalid server becomes a problem; if no server is left, so does the text. */
function checkServers({ servers, inputs = [], isForWorkspace = false }: RawServers): Pasted {
  const found: PastedServer[] = [];
  const problems: string[] = [];
  const names = new Set<string>();
  for (const { name: given, entry } of servers.slice(0, MAX_SERVERS)) {
    const normalized = isObject(entry) ? normalizeEntry(entry) : { entry: {}, ignored: [] };
    const suggested = (given && toServerName(given)) ?? suggestName(normalized.entry);
    const name = suggested === undefined ? undefined : freeName(suggested, names);
    const label = name ?? 'server';
    const checked = isObject(entry) ? nameServer(label, normalized).entry : entry;
    const read = readServers({ [label]: checked }, 'asWritten');
    problems.push(...read.problems);
    if (!read.servers.has(label)) continue;
    if (name !== undefined) names.add(name);
    found.push({ ...normalized, name });
  }
  const [first] = problems;
  if (found.length > 0) return { kind: 'servers', servers: found, inputs, problems, isForWorkspace };
  throw new PasteError(first === undefined ? { kind: 'noServers' } : { kind: 'server', reason: first });
}

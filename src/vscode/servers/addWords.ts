import { nameServer } from '../../mcp/config/pasted/normalize.ts';
import type { Pasted, PasteProblem } from '../../mcp/config/pasted/types.ts';
import { describeEntry } from '../../mcp/config/serverEntry.ts';
import { plainMessage, truncate } from '../ui/plainMessage.ts';
import { formatNumber, t } from '../ui/words.ts';

const MAX_QUOTED_CHARS = 80;

/** What is wrong with a pasted text, and what to do. */
export function describePasteProblem(problem: PasteProblem): string {
  switch (problem.kind) {
    case 'empty':
      return t('Enter a command, a URL or JSON.');
    case 'tooLong':
      return t(
        'The text has more than {0} characters. Paste only the servers.',
        formatNumber(problem.maxChars),
      );
    case 'json':
      return problem.near === undefined
        ? t('This is not valid JSON: {0}', plainMessage(problem.reason))
        : t(
            'This is not valid JSON near “{0}”: {1}',
            plainMessage(problem.near),
            plainMessage(problem.reason),
          );
    case 'comments':
      return t('A comment in this JSON cannot be read without its line breaks. Use Paste from Clipboard.');
    case 'noServers':
      return t(
        'There is no MCP server in this JSON. It must contain "mcpServers", "servers", "command" or "url".',
      );
    case 'toml':
      return t('This is a configuration of Codex. Paste the command line of the server, its URL, or JSON.');
    case 'installer':
      return t(
        'This command installs a program, but starts no server. Paste the command that starts the server.',
      );
    case 'server':
      return plainMessage(problem.reason);
    case 'quote':
      return t('A quote ({0}) is not closed.', problem.quote);
    case 'shell':
      return t(
        '“{0}” needs a shell, but the program is started directly. Use a script or sh -c "…".',
        problem.word,
      );
    case 'webPage':
      return t(
        'This is a page of {0}, not a server. Copy the command or the JSON from its instructions.',
        problem.host,
      );
    case 'link':
      return t('This install link has no server configuration: {0}', quoted(problem.text));
    case 'address':
      return /^https?:/i.test(problem.text)
        ? t('This is not a valid URL: {0}', quoted(problem.text))
        : t('The URL must start with http:// or https://: {0}', quoted(problem.text));
    case 'userInfo':
      return t(
        'The URL contains a user name or password. Remove it, and add an Authorization header instead.',
      );
    case 'usage':
      return problem.missing === 'name'
        ? t('Enter the name of the server after “{0}”.', problem.command)
        : t('Enter the program or the URL after the name of the server.');
  }
}

/** What would be added, while it is typed. */
export function describePasted(pasted: Extract<Pasted, { kind: 'servers' }>): string {
  const names = pasted.servers.map(({ name = '?' }) => name);
  const [server] = pasted.servers;
  if (server === undefined || names.length > 1) {
    return plainMessage(t('{0} servers: {1}', names.length, names.join(', ')));
  }
  const name = server.name ?? 'server';
  const [first = ''] = describeEntry(nameServer(name, server)).split('\n');
  return plainMessage(server.name === undefined ? first : `${server.name}: ${first}`);
}

function quoted(text: string): string {
  return plainMessage(truncate(text, MAX_QUOTED_CHARS));
}

/** A started server and the number of its tools. */
export interface StartedServer {
  readonly server: string;
  readonly tools: number;
}

export function describeAdded(started: readonly StartedServer[]): string {
  const [only] = started;
  if (started.length === 1 && only) return t('Added {0}. {1}.', only.server, describeTools(only.tools));
  return t(
    'Added {0}.',
    started.map(({ server, tools }) => `${server} (${describeTools(tools)})`).join(', '),
  );
}

function describeTools(count: number): string {
  if (count === 0) return t('No tools');
  return count === 1 ? t('1 tool') : t('{0} tools', count);
}

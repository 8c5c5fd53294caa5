import { isLoopback } from '../../../base/addresses.ts';
import { field } from '../../../base/json.ts';
import { addressOf } from '../readServers.ts';
import type { ServerEntry } from '../serverEntry.ts';
import { splitWords } from './words.ts';

/** A name for a server, from its package, script, image or host. Undefined if none of them suggests one. */
export function suggestName(entry: ServerEntry): string | undefined {
  const address = addressOf(entry);
  if (typeof address === 'string') return nameOfUrl(address);
  const args = field(entry, 'args');
  const words = [field(entry, 'command'), ...(Array.isArray(args) ? args : [])];
  return nameOfProgram(words.filter((word) => typeof word === 'string'));
}

/** A valid name, or undefined if nothing is left. */
export function toServerName(text: string): string | undefined {
  return text.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|(?<!-)-+$/g, '') || undefined;
}

/** Labels that say nothing about the service. */
const PLAIN_LABELS: ReadonlySet<string> = new Set(['www', 'mcp', 'api', 'app', 'remote', 'server']);

function nameOfUrl(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined;
  const url = new URL(address);
  if (isLoopback(url)) return url.port === '' ? 'local' : `local-${url.port}`;
  const host = url.hostname.replace(/^\[|\]$/g, '');
  const labels = host.split('.');
  if (labels.length < 2 || /^[\d.:]+$/.test(host)) return toServerName(host);
  const domain = labels.slice(0, -1);
  // The domains of some countries have two parts, such as co.uk.
  if (domain.length > 1 && (domain.at(-1) ?? '').length <= 3) domain.pop();
  const own = domain.filter((label) => !PLAIN_LABELS.has(label));
  return toServerName(own.at(-1) ?? domain.at(-1) ?? host);
}

type NameOf = (args: readonly string[]) => string | undefined;

/** Programs that start the actual server. */
const RUNNERS: Readonly<Record<string, NameOf>> = {
  npx: nameOfPackage,
  bunx: nameOfPackage,
  pnpx: nameOfPackage,
  uvx: nameOfPackage,
  npm: afterWords('exec', 'x'),
  pnpm: afterWords('dlx', 'exec'),
  yarn: afterWords('dlx'),
  pipx: afterWords('run'),
  bun: afterWords('x', 'run'),
  uv: afterWords('tool', 'run'),
  dnx: nameOfPackage,
  docker: nameOfImage,
  podman: nameOfImage,
  node: nameOfScript,
  deno: afterWords('run'),
  tsx: nameOfScript,
  python: nameOfScript,
  python3: nameOfScript,
  py: nameOfScript,
  cmd: (args) => nameOfProgram(args.filter((word) => !/^\/\w$/.test(word))),
  sh: nameOfShellLine,
  bash: nameOfShellLine,
  env: (args) => nameOfProgram(args.filter((word) => !/^\w+=/.test(word))),
};

function nameOfProgram([command = '', ...args]: readonly string[]): string | undefined {
  const program = lastSegment(command).replace(/\.(?:exe|cmd|bat|ps1)$/i, '');
  const runner = Object.hasOwn(RUNNERS, program) ? RUNNERS[program] : undefined;
  return runner ? (runner(args) ?? toServerName(program)) : nameOfPath(command);
}

/** Skips the words before the package, such as `tool run` of uv. */
function afterWords(...skipped: readonly string[]): NameOf {
  return (args) => {
    const at = args.findIndex((word) => !skipped.includes(word) && !word.startsWith('-'));
    const target = args[at] ?? '';
    return /\.\w{2,3}$/.test(target) ? nameOfScript(args.slice(at)) : nameOfPackage(args.slice(at));
  };
}

const OPTIONS_WITH_VALUE: ReadonlySet<string> = new Set(
  [
    '-p --package --from --with --python --registry --directory --project -C -r --require --import',
    '-e --env --env-file -v --volume --mount --name --network --net -u --user -w --workdir',
    '--entrypoint --platform --add-host',
  ].flatMap((line) => line.split(' ')),
);

function positionals(args: readonly string[]): readonly string[] {
  return args.filter((word, at) => !word.startsWith('-') && !OPTIONS_WITH_VALUE.has(args[at - 1] ?? ''));
}

function nameOfPackage(args: readonly string[]): string | undefined {
  const [given = '', ...rest] = positionals(args);
  // A bridge to a remote server.
  const address = rest.find((word) => /^https?:\/\//.test(word));
  if (/^(?:mcp-remote|supergateway|mcp-proxy)\b/.test(given) && address) return nameOfUrl(address);
  const [, scope = '', name = ''] = /^(?:npm:|jsr:)?(?:@([^/]+)\/)?([^@]*)/.exec(given) ?? [];
  return withoutAffixes(lastSegment(name)) ?? withoutAffixes(scope);
}

function nameOfImage(args: readonly string[]): string | undefined {
  const [image = ''] = positionals(args).filter((word) => word !== 'run');
  return withoutAffixes(lastSegment(image).replace(/[:@].*$/s, ''));
}

function nameOfScript(args: readonly string[]): string | undefined {
  const module = args[args.indexOf('-m') + 1];
  if (args.includes('-m') && module) return withoutAffixes(module.split('.')[0] ?? '');
  // Code in the command line has no name.
  return args.some((word) => /^(?:-e|-c|--eval)$/.test(word)) ? undefined : nameOfPath(positionals(args)[0]);
}

function nameOfShellLine(args: readonly string[]): string | undefined {
  try {
    return nameOfProgram(splitWords(positionals(args).join(' ')));
  } catch {
    // An open quote: the line has no name.
    return undefined;
  }
}

const PLAIN_SEGMENTS =
  /^(?:index|main|server|app|cli|run|start|dist|build|src|out|bin|lib|release|debug|target|mcp|mcp-server|server-mcp|\.+|[a-z]:|\$\{\w+\}|)$/i;

/** The last segment of a path that says something. */
function nameOfPath(path = ''): string | undefined {
  const segments = path.split(/[/\\]+/).map((segment) => segment.replace(/(?<=.)\.\w{1,4}$/, ''));
  const telling = segments.filter((segment) => !PLAIN_SEGMENTS.test(segment)).at(-1);
  return telling === undefined ? undefined : withoutAffixes(telling);
}

function lastSegment(path: string): string {
  return path.split(/[/\\]+/).at(-1) ?? '';
}

const AFFIXES: ReadonlySet<string> = new Set(['mcp', 'server', 'modelcontextprotocol']);

/** `mcp-server-time` becomes `time`. */
function withoutAffixes(name: string): string | undefined {
  const words = name.split(/[^A-Za-z0-9]+/).filter((word) => word !== '' && !AFFIXES.has(word.toLowerCase()));
  return toServerName(words.join('-'));
}

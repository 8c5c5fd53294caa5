import { PasteError, type RawServer } from './types.ts';

/** Words that only a shell understands. */
const SHELL_WORD = /^(?:&&?|\|\|?|;|>>?|<|2>&1)$/;
/** Commands that end before a server could start, which people copy from the first step of its instructions. */
const INSTALLS =
  /^(?:sudo )?(?:(?:npm|pnpm|yarn|bun) (?:install|i|add|ci)|(?:python3? -m )?pip3? install|uv (?:tool |pip )?(?:install|add)|(?:pipx|brew|cargo|go|gem|apt|apt-get|choco|winget|scoop) install|npx .*@smithery\/cli\S* install|docker pull|git clone)\b/;
const ASSIGNMENT = /^([A-Za-z_]\w*)=(.*)$/s;

/** A program with its arguments, which may follow `A=b`, `env A=b` or `cd FOLDER &&`. */
export function readCommandLine(given: readonly string[]): RawServer {
  const [first = '', folder, and] = given;
  const isInFolder = first === 'cd' && folder !== undefined && and === '&&';
  const words = isInFolder ? given.slice(3) : given;
  const start = words.findIndex((word, at) => !ASSIGNMENT.test(word) && !(at === 0 && word === 'env'));
  const [command = '', ...args] = start < 0 ? [] : words.slice(start).map(expandHome);
  if (command.trim() === '') throw new PasteError({ kind: 'empty' });
  const shell = args.find((word) => SHELL_WORD.test(word));
  if (shell !== undefined) throw new PasteError({ kind: 'shell', word: shell });
  if (INSTALLS.test([command, ...args].join(' '))) throw new PasteError({ kind: 'installer' });
  const env = Object.fromEntries(
    words.slice(0, start).flatMap((word) => {
      const [, name, value = ''] = ASSIGNMENT.exec(word) ?? [];
      return name === undefined ? [] : [[name, expandHome(value)]];
    }),
  );
  const entry = {
    ...(isPackage(command) && args.length === 0
      ? { command: 'npx', args: ['-y', command] }
      : { command, args }),
    ...(Object.keys(env).length > 0 && { env }),
    ...(isInFolder && { cwd: expandHome(folder) }),
  };
  return { entry };
}

/** People copy the name of an npm package, which starts nothing by itself. */
function isPackage(command: string): boolean {
  return /^@[\w.-]+\/[\w.-]+(?:@[\w.^~-]+)?$/.test(command);
}

/** What a shell would replace. `$(pwd)` and `$PWD` mean the open folder. */
function expandHome(word: string): string {
  return word
    .replace(/^~(?=[/\\]|$)/, `\${userHome}`)
    .replace(/\$(?:\(pwd\)|PWD\b|\{PWD\})/g, `\${workspaceFolder}`)
    .replace(/\$HOME\b/g, `\${userHome}`)
    .replace(/\$([A-Za-z_]\w*)/g, `\${env:$1}`);
}

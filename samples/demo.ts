/** `npm run demo [-- NAME]`: runs a copy of a sample chat on the command line and prints the result. */
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const samples = import.meta.dirname;
const name = `${process.argv[2] ?? 'tour'}.chat.md`;
const folder = mkdtempSync(join(tmpdir(), 'filechat-demo-'));
const chat = join(folder, name);
copyFileSync(join(samples, name), chat);

const servers = join(samples, '.vscode', 'mcp.json');
const cli = join(samples, '..', 'dist', 'cli.js');
const { status } = spawnSync(
  process.execPath,
  [cli, 'run', chat, '--servers', servers, '--approve', 'auto'],
  {
    stdio: ['ignore', 'ignore', 'inherit'],
  },
);

console.log(`$ filechat run ${name} --servers samples/.vscode/mcp.json --approve auto\n`);
console.log(readFileSync(chat, 'utf8'));
console.log(`Files in ${folder}:`);
console.log(`${name}  ${statSync(chat).size} bytes`);
const assets = join(folder, 'cmdassets');
for (const asset of existsSync(assets) ? readdirSync(assets) : []) {
  console.log(`cmdassets/${asset}  ${statSync(join(assets, asset)).size} bytes`);
}
process.exitCode = status ?? 1;

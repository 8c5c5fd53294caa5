/**
 * `npm run bench`: large and numerous results, from the request to the files, by four clients side by side;
 * what is done with the text of chats, and by the helpers for tool authors; many servers at once; and how smooth the editor stays.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { doesSizeNotMatter, measureAssets, renderAssetsReport } from './assets.ts';
import { combine, runTrial } from './cell.ts';
import { measureChats } from './chat/chat.ts';
import { renderChatReport } from './chat/chatReport.ts';
import { measureContent } from './content/content.ts';
import { isContentFastEnough, renderContentReport } from './content/contentReport.ts';
import { measureEditor } from './editor/editor.ts';
import { renderEditorReport } from './editor/editorReport.ts';
import { type Options, readOptions } from './options.ts';
import { prepareLoad } from './payload.ts';
import { describeOutcome, renderReport } from './report.ts';
import { isFastEnough, measureServers, renderServersReport } from './servers.ts';
import { drawChart } from './svg.ts';
import {
  type Cell,
  type ClientName,
  type Load,
  nameLoad,
  type Outcome,
  type Results,
  type Target,
  WARM_UP,
  type Way,
} from './types.ts';

interface Bench {
  readonly options: Options;
  /** Payloads, and a folder for each trial. */
  readonly folder: string;
  readonly targets: Readonly<Record<Way, Target>>;
  readonly signal: AbortSignal;
}

/** Each cell is tried so often, in turn with the other clients, so that a passing load does not hit one alone. */
const TRIALS = 3;
/** What takes this long is not told apart from the others by the noise. */
const LONG_MS = 15_000;
const STOPPED = new Error('Stopped.');
const SERVER = join(import.meta.dirname, 'server.ts');

async function main(options: Options): Promise<void> {
  if (options.parts.includes('results')) await benchResults(options);
  if (options.parts.includes('chat') && options.from === undefined) await benchChats(options);
  if (options.parts.includes('content') && options.from === undefined) await benchContent(options);
  if (options.parts.includes('assets') && options.from === undefined) await benchAssets(options);
  if (options.parts.includes('servers') && options.from === undefined) await benchServers(options);
  if (options.parts.includes('editor') && options.from === undefined) await benchEditor(options);
}

async function benchEditor({ jsonFile }: Options): Promise<void> {
  const results = await measureEditor();
  console.log(renderEditorReport(results));
  await write(join(dirname(jsonFile), 'editor.json'), `${JSON.stringify(results, null, 2)}\n`);
}

async function benchServers({ jsonFile }: Options): Promise<void> {
  const results = await measureServers();
  console.log(renderServersReport(results));
  await write(join(dirname(jsonFile), 'servers.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (!isFastEnough(results)) process.exitCode = 1;
}

async function benchContent({ jsonFile }: Options): Promise<void> {
  const results = await measureContent();
  console.log(renderContentReport(results));
  await write(join(dirname(jsonFile), 'content.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (!isContentFastEnough(results)) process.exitCode = 1;
}

async function benchAssets({ jsonFile }: Options): Promise<void> {
  const rows = await measureAssets();
  console.log(renderAssetsReport(rows));
  await write(join(dirname(jsonFile), 'assets.json'), `${JSON.stringify(rows, null, 2)}\n`);
  if (!doesSizeNotMatter(rows)) process.exitCode = 1;
}

async function benchChats({ jsonFile }: Options): Promise<void> {
  const results = await measureChats();
  console.log(renderChatReport(results));
  await write(join(dirname(jsonFile), 'chat.json'), `${JSON.stringify(results, null, 2)}\n`);
  if (results.failures.length > 0) process.exitCode = 1;
}

async function benchResults(options: Options): Promise<void> {
  const results =
    options.from === undefined
      ? await measureAll(options)
      : (JSON.parse(await readFile(options.from, 'utf8')) as Results);
  console.log(renderReport(results));
  if (options.from === undefined) await write(options.jsonFile, `${JSON.stringify(results, null, 2)}\n`);
  if (options.svgFile !== undefined) await write(options.svgFile, drawChart(results));
  if (results.cells.some(({ outcome }) => outcome.kind === 'wrong')) process.exitCode = 1;
}

async function measureAll(options: Options): Promise<Results> {
  const stop = new AbortController();
  const onSignal = () => stop.abort(STOPPED);
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, onSignal);
  const folder = await mkdtemp(join(tmpdir(), 'filechat-bench-'));
  const server = spawn(process.execPath, [SERVER, 'http', folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  try {
    const targets = await findTargets(server, folder);
    const cells = await measureCells({ options, folder, targets, signal: stop.signal });
    const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`;
    return { date: new Date().toISOString(), node: process.version, machine, cells };
  } finally {
    server.kill();
    await rm(folder, { recursive: true, force: true });
  }
}

async function findTargets(server: ChildProcess, folder: string): Promise<Record<Way, Target>> {
  const ended = once(server, 'exit').then(() => Promise.reject(new Error('The HTTP server did not start.')));
  ended.catch(() => {});
  const [line] = await Promise.race([once(server.stdout ?? server, 'data'), ended]);
  const url = `http://127.0.0.1:${String(line).trim()}`;
  return {
    stdio: { kind: 'stdio', command: process.execPath, args: [SERVER, 'stdio', folder] },
    json: { kind: 'http', url: `${url}/json` },
    sse: { kind: 'http', url: `${url}/sse` },
  };
}

async function measureCells(bench: Bench): Promise<Cell[]> {
  const cells: Cell[] = [];
  await prepareLoad(bench.folder, WARM_UP);
  for (const load of bench.options.loads) {
    const sha256 = await prepareLoad(bench.folder, load);
    for (const way of bench.options.ways) {
      const slow = cells.filter((cell) => cell.way === way && isHopeless(cell)).map(({ client }) => client);
      cells.push(...(await measureRow(bench, { load, way, sha256, slow })));
    }
  }
  return cells;
}

/** A larger image takes an SDK's client still longer. What ours does is always of interest. */
function isHopeless({ client, load, outcome }: Cell): boolean {
  const gaveUp = outcome.kind === 'tooSlow' || outcome.kind === 'skipped';
  return gaveUp && load.kind === 'image' && (client === 'sdk1' || client === 'sdk2');
}

interface Row {
  readonly load: Load;
  readonly way: Way;
  readonly sha256: string;
  readonly slow: readonly ClientName[];
}

/** One load over one way, by every client. */
async function measureRow(bench: Bench, { load, way, sha256, slow }: Row): Promise<Cell[]> {
  const { options, folder, targets, signal } = bench;
  const trials = new Map<ClientName, Outcome[]>(options.clients.map((client) => [client, []]));
  for (let round = 0; round < TRIALS; round++) {
    for (const [client, outcomes] of trials) {
      const skip = load.kind === 'image' && slow.includes(client);
      if (skip || !outcomes.every(isWorthRepeating)) continue;
      outcomes.push(await runTrial({ client, target: targets[way], load, sha256, scratch: folder, signal }));
    }
  }
  return [...trials].map(([client, outcomes]) => {
    const outcome = combine(outcomes);
    console.error(`${way}, ${nameLoad(load)}, ${client}: ${describeOutcome(outcome)}`);
    return { way, load, client, outcome };
  });
}

function isWorthRepeating(outcome: Outcome): boolean {
  return outcome.kind === 'measured' && outcome.ms < LONG_MS;
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  console.log(`Wrote ${path}.`);
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = error === STOPPED ? 130 : 2;
}

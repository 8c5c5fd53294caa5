/**
 * Calls the tools of real servers from npm (`npm run servers -- WORD…`): installs each at a fixed version, starts it
 * behind a proxy that records the raw answers, and compares them with what the client writes into a chat. With
 * `--write`, the last section of docs/servers.md is replaced; with `--tools`, the tools are only listed; with `--verbose`, error
 * results are printed.
 */
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { field } from '../../src/base/json.ts';
import type { StdioServer } from '../../src/mcp/config/types.ts';
import type { ToolInfo } from '../../src/ports/tools.ts';
import { type Serving, serve } from '../integration/helpers/serving.ts';
import type { Cleanup } from '../kit/folder.ts';
import { compareResult, type Difference } from './compare.ts';
import { createPlace, type Place } from './place.ts';
import { readRecordedResults } from './recorded.ts';
import { SERVERS } from './servers.ts';
import { HEADING, type Row, renderSection, renderTable } from './table.ts';
import type { TestedServer } from './testedServer.ts';

const INSTALL_MS = 5 * 60_000;
const SERVER_MS = 3 * 60_000;
const CALL_MS = 60_000;

const words = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const isVerbose = process.argv.includes('--verbose');
const isListing = process.argv.includes('--tools');
const chosen = SERVERS.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));

const after: (() => void | Promise<void>)[] = [];
const cleanup: Cleanup = { after: (work) => void after.unshift(work) };
try {
  const place = await createPlace(cleanup);
  const rows: Row[] = [];
  for (const server of chosen) {
    const row = await testServer(server, place);
    rows.push(row);
    console.error(`${row.name} ${row.version}: ${row.calls} calls, ${row.blocks} blocks. ${row.note}`);
    for (const each of row.differences) console.error(`  ${each}`);
  }
  console.log(renderTable(rows));
  // Words choose some of the servers, and the section has all of them.
  if (process.argv.includes('--write') && words.length === 0)
    writeSection(join(import.meta.dirname, '../../docs/servers.md'), renderSection(rows));
  process.exitCode = rows.some(({ differences }) => differences.length > 0) ? 1 : 0;
} finally {
  for (const work of after) await work();
}

/** The section is the last one of the page. */
function writeSection(page: string, section: string): void {
  const [before = ''] = readFileSync(page, 'utf8').split(`${HEADING}\n`);
  writeFileSync(page, before + section);
}

async function testServer(server: TestedServer, place: Place): Promise<Row> {
  const ended: (() => void | Promise<void>)[] = [];
  try {
    const program = await install(server);
    const record = join(place.folder, 'records', server.name.replace(/\W/g, '_'));
    mkdirSync(record, { recursive: true });
    const { args = () => [], env = () => ({}) } = server;
    const config: StdioServer = {
      kind: 'stdio',
      command: process.execPath,
      args: [join(import.meta.dirname, 'tee.ts'), record, process.execPath, program, ...args(place)],
      env: env(place),
      cwd: place.files,
    };
    const requests = { roots: async () => [{ uri: pathToFileURL(place.files).href }] };
    const serving = serve({ after: (work) => void ended.unshift(work) }, { it: config }, { requests });
    serving.timeoutMs = CALL_MS;
    return await callTools(server, { serving, record, place });
  } catch (error) {
    console.error(messageOf(error));
    return emptyRow(server, `not tested: ${briefly(error)}`);
  } finally {
    for (const work of ended) await work();
  }
}

/** The packages are kept for the next run. Without install scripts, which download browsers. Resolves to the program. */
async function install({ name, version }: TestedServer): Promise<string> {
  const target = join(tmpdir(), 'filechat-servers', `${name}@${version}`.replace(/[^\w.-]/g, '_'));
  const manifest = join(target, 'node_modules', name, 'package.json');
  if (!existsSync(manifest)) {
    mkdirSync(target, { recursive: true });
    writeFileSync(join(target, 'package.json'), '{ "private": true }');
    const npm = ['install', '--ignore-scripts', '--no-audit', '--no-fund', '--prefer-offline', '--silent'];
    await promisify(execFile)('npm', [...npm, `${name}@${version}`], {
      cwd: target,
      timeout: INSTALL_MS,
      shell: process.platform === 'win32',
    }).catch(() => {
      throw new Error('could not be installed');
    });
  }
  const programs: string | Record<string, string> = JSON.parse(readFileSync(manifest, 'utf8')).bin;
  const program = typeof programs === 'string' ? programs : Object.values(programs)[0];
  return join(dirname(manifest), program ?? '');
}

interface Session {
  readonly serving: Serving;
  readonly record: string;
  readonly place: Place;
}

async function callTools(server: TestedServer, { serving, record, place }: Session): Promise<Row> {
  const signal = AbortSignal.timeout(SERVER_MS);
  const { tools, failures } = await serving.client.listTools('it', signal);
  if (failures[0]) throw new Error(failures[0].reason);
  if (isListing) for (const tool of tools) console.error(describeTool(tool));
  const found: Difference[] = [];
  const errors = new Set<string>();
  const failed: string[] = [];
  for (const [tool, args] of isListing ? [] : server.calls(place)) {
    const before = readRecordedResults(record).length;
    try {
      const { markdown, folder, result } = await serving.callInChat(`it.${tool}`, args, { signal });
      const sent = readRecordedResults(record).slice(before).at(-1);
      found.push(compareResult(sent, markdown, folder));
      if (result.isError) errors.add(tool);
      if (result.isError && isVerbose) console.error(markdown);
    } catch (error) {
      console.error(messageOf(error));
      failed.push(`${tool}: ${briefly(error)}`);
    }
  }
  const differences = found.flatMap(({ lost, reordered, changed }) => [
    ...lost.map((each) => `lost: ${each}`),
    ...reordered.map((each) => `reordered: ${each}`),
    ...changed.map((each) => `changed: ${each}`),
  ]);
  const count = (key: 'lost' | 'reordered' | 'changed') =>
    found.reduce((sum, each) => sum + each[key].length, 0);
  return {
    name: server.name,
    version: server.version,
    tools: tools.length,
    calls: found.length,
    blocks: found.reduce((sum, each) => sum + each.blocks, 0),
    lost: count('lost'),
    reordered: count('reordered'),
    changed: count('changed'),
    note: [
      ...(server.note === undefined ? [] : [server.note]),
      ...(errors.size > 0 ? [`error results: ${[...errors].join(', ')}`] : []),
      ...failed.map((each) => `failed: ${each}`),
    ].join('; '),
    differences,
  };
}

/** The first sentence, without the name that every server has here. */
function briefly(error: unknown): string {
  const [first = ''] = messageOf(error)
    .replace(/^.*? of server it failed: |^Server it /, '')
    .split(/\.\s|\n/);
  return first.slice(0, 100);
}

function emptyRow({ name, version }: TestedServer, note: string): Row {
  const none = { tools: 0, calls: 0, blocks: 0, lost: 0, reordered: 0, changed: 0 };
  return { name, version, ...none, note, differences: [] };
}

/** The name of a tool and its arguments; those in brackets are optional. */
function describeTool({ tool, inputSchema }: ToolInfo): string {
  const required = field(inputSchema, 'required');
  const names = Object.keys(Object(field(inputSchema, 'properties')));
  const isRequired = (name: string) => Array.isArray(required) && required.includes(name);
  return `  ${tool} ${names.map((name) => (isRequired(name) ? name : `[${name}]`)).join(' ')}`;
}

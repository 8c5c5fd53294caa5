import { execFile } from 'node:child_process';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { repositoryPath } from './sampleServer.ts';

const run = promisify(execFile);
/** Of npm, a program of Windows is a script, which only a shell can start. */
const SHELL = { shell: process.platform === 'win32' };

/** The npm package as it would be published, and the paths of the files in it. */
export async function packFilechat(
  folder: string,
): Promise<{ readonly tarball: string; readonly files: readonly string[] }> {
  const options = ['--json', '--ignore-scripts', '--pack-destination', folder];
  const { stdout } = await run('npm', ['pack', ...options], { cwd: repositoryPath('.'), ...SHELL });
  // One npm prints a list, another an object by the package's name.
  const [packed] = Object.values(JSON.parse(stdout) as Record<string, Packed>);
  if (!packed) throw new Error('npm packed nothing.');
  return { tarball: join(folder, packed.filename), files: packed.files.map(({ path }) => path) };
}

interface Packed {
  readonly filename: string;
  readonly files: readonly { readonly path: string }[];
}

/** Makes the folder a project that has installed the tarball, as its author would, but without a network. */
export async function installFilechat(folder: string, tarball: string): Promise<void> {
  await writeManifest(folder);
  const options = ['--offline', '--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock'];
  await run('npm', ['install', ...options, tarball], { cwd: folder, ...SHELL });
}

/** Makes the folder a project that uses this repository in place of the package. */
export async function linkFilechat(folder: string): Promise<void> {
  await writeManifest(folder);
  await link(folder, 'filechat', repositoryPath('.'));
}

/** Links packages of this repository into the project. */
export async function linkPackages(folder: string, names: readonly string[]): Promise<void> {
  for (const name of names) await link(folder, name, repositoryPath(join('node_modules', name)));
}

async function writeManifest(folder: string): Promise<void> {
  await writeFile(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
}

async function link(folder: string, name: string, target: string): Promise<void> {
  const path = join(folder, 'node_modules', name);
  await mkdir(dirname(path), { recursive: true });
  await symlink(target, path, 'junction');
}

/** The compiler errors in these files; empty without errors. */
export async function typeCheck(
  folder: string,
  files: readonly string[],
  compilerOptions: Readonly<Record<string, unknown>>,
): Promise<string> {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const settings = { compilerOptions: { noEmit: true, ...strict, ...compilerOptions }, files };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(settings));
  const tsc = repositoryPath('node_modules/typescript/bin/tsc');
  const said = run(process.execPath, [tsc, '-p', folder], { cwd: folder });
  return said.then(
    ({ stdout }) => stdout,
    (error: { stdout?: string; message: string }) => error.stdout || error.message,
  );
}

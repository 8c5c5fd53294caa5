import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const KEEP_CONNECTIONS = new URL('keepConnections.mjs', import.meta.url).href;
const RUNNER = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** Runs the conformance suite. Its exit code is ignored, because its output says more about failed checks. */
export function runSuite(
  args: readonly string[],
  cwd = import.meta.dirname,
): Promise<{ readonly output: string; readonly errors: string }> {
  const options = { cwd, maxBuffer: 64 * 1024 * 1024 };
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      ['--import', KEEP_CONNECTIONS, RUNNER, ...args],
      options,
      (_, output, errors) => resolve({ output, errors }),
    );
  });
}

/** The scenarios for extensions, which belong to no revision of the protocol. */
export async function listExtensions(side: 'client' | 'server'): Promise<readonly string[]> {
  const { output } = await runSuite(['list', `--${side}`]);
  return [...output.matchAll(/^ {2}- (\S+) \[extension\]$/gm)].map(([, scenario = '']) => scenario);
}

import { createTemporaryFolder } from '../kit/folder.ts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';


/** What the protocol calls extensions, and why we do without them. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'auth/client-credentials-jwt': 'for programs that sign in without a person; ours always has one',
  'auth/client-credentials-basic': 'for programs that sign in without a person; ours always has one',
  'auth/enterprise-managed-authorization':
    'needs an identity provider of a company that hands out assertions',
  'auth/wif-jwt-bearer': 'needs the identity of a workload in a cloud',
  'auth/dpop': 'binds tokens to a key of the client; the servers in use ask for plain ones over https',
  'auth/dpop-nonce': 'as auth/dpop',
  'sep-2640-client-no-prefetch': 'skills are not offered',
  'sep-2640-client-verify-digest': 'skills are not offered',
  'sep-2640-client-verify-size': 'skills are not offered',
  'sep-2640-client-verify-frontmatter': 'skills are not offered',
};

/** `all` is core, authorization and what is new in the revision; extensions belong to no revision. */
const RUNS: readonly {
  readonly name: string;
  readonly args: readonly string[];
  readonly scenarios: number;
}[] = [
  { name: '2025-11-25', args: ['--suite', 'all', '--spec-version', '2025-11-25'], scenarios: 19 },
  { name: '2026-07-28', args: ['--suite', 'all', '--spec-version', '2026-07-28'], scenarios: 33 },
  { name: '2025-03-26, its way to sign in', args: ['--suite', 'backcompat'], scenarios: 2 },
];

/** The scenarios in which the server cannot be trusted or satisfied, and what the user is told. */
const FAILURES: Readonly<Record<string, RegExp>> = {
  'auth/scope-retry-limit': /Insufficient scope: required "mcp:admin"/,
  'auth/resource-mismatch': /The sign-in to conformance failed: Protected resource \S+ does not match/,
  'auth/iss-supported-missing': /failed: the response does not come from the expected authorization server/,
  'auth/iss-wrong-issuer': /failed: the response does not come from the expected authorization server/,
  'auth/iss-unexpected': /failed: the response does not come from the expected authorization server/,
  'auth/iss-normalized': /failed: the response does not come from the expected authorization server/,
  'auth/metadata-issuer-mismatch':
    /failed: the response does not come from the expected authorization server/,
};

/** All scenarios of a suite run at once, so on a small machine each takes long. */
const SCENARIO_TIMEOUT_MS = 120_000;

const PATIENCE = new URL('patientServers.mjs', import.meta.url).href;
const RUNNER = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

/** One file, because the suite starts the client once for every scenario. */
const bundled = createTemporaryFolder();
const client = join(bundled.path, 'client.mjs');
before(() =>
  build({
    entryPoints: [join(import.meta.dirname, 'client.ts')],
    outfile: client,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // Packages in CommonJS form ask for Node's own modules by require.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  }),
);
after(() => bundled[Symbol.dispose]());

describe('the conformance suite of the protocol finds no fault', () => {
  for (const { name, args, scenarios } of RUNS) {
    test(`at ${name}`, async (t) => {
      using folder = createTemporaryFolder();
      const { output, errors } = await runClient([...args, '--verbose'], folder.path);
      const failures = [...errors.matchAll(/^FAILED (\S+): (.*)$/gm)];
      const summary = [
        output.slice(output.indexOf('=== SUITE SUMMARY ===')),
        ...failures.map(([line]) => line),
      ].join('\n');
      const ran = summary.match(/^[✓✗] \S+: \d+ passed/gm) ?? [];
      const [, passed, failed, warnings] =
        /^Total: (\d+) passed, (\d+) failed, (\d+) warnings$/m.exec(summary) ?? [];
      t.diagnostic(
        `${ran.length} scenarios: ${passed} checks passed, ${failed} failed, ${warnings} warnings`,
      );
      assert.equal(ran.length, scenarios, output + errors);
      // A scenario without a single check has tried nothing.
      assert.doesNotMatch(summary, /: 0 passed/, `${summary}\n${errors}`);
      assert.equal(failed, '0', `${summary}\n${output}\n${errors}`);
      assert.equal(warnings, '0', `${summary}\n${output}`);
      for (const [, scenario = '', reason = ''] of failures) {
        assert.match(reason, FAILURES[scenario] ?? /^$/, `${scenario} failed: ${reason}`);
      }
    });
  }

  test('in everything but the extensions that are left out, each for a reason', async (t) => {
    const { output: listed } = await runRunner(['list', '--client']);
    const extensions = [...listed.matchAll(/^ {2}- (\S+) \[extension\]$/gm)].map(([, scenario]) => scenario);
    assert.deepEqual(new Set(extensions), new Set(Object.keys(LEFT_OUT)));
    for (const [scenario, reason] of Object.entries(LEFT_OUT)) t.diagnostic(`${scenario}: ${reason}`);
  });
});

function runClient(args: readonly string[], cwd: string): ReturnType<typeof runRunner> {
  const command = `${process.execPath} ${client}`;
  const timeout = ['--timeout', String(SCENARIO_TIMEOUT_MS)];
  return runRunner(['client', '--command', command, ...args, ...timeout], cwd);
}

/** What the runner writes. It exits with a failure when a check has failed, which the output says better. */
function runRunner(
  args: readonly string[],
  cwd = import.meta.dirname,
): Promise<{ readonly output: string; readonly errors: string }> {
  return new Promise((resolve) => {
    const options = { cwd, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, ['--import', PATIENCE, RUNNER, ...args], options, (_error, output, errors) =>
      resolve({ output, errors }),
    );
  });
}

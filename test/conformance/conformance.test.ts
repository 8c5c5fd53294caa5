import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { build } from 'esbuild';
import { createTemporaryFolder } from '../kit/folder.ts';
import { listExtensions, runSuite } from './runner.ts';

const UNATTENDED = 'for programs that sign in without a user; Filechat always has one';
const BOUND_TOKENS = 'binds tokens to a key of the client; existing servers use plain ones over https';
const SKILLS = 'skills are not supported';

/** The protocol's extensions, and why Filechat does not support them. */
const LEFT_OUT: Readonly<Record<string, string>> = {
  'auth/client-credentials-jwt': UNATTENDED,
  'auth/client-credentials-basic': UNATTENDED,
  'auth/enterprise-managed-authorization': 'needs a company’s identity provider that issues assertions',
  'auth/wif-jwt-bearer': 'needs the identity of a workload in a cloud',
  'auth/dpop': BOUND_TOKENS,
  'auth/dpop-nonce': BOUND_TOKENS,
  'sep-2640-client-no-prefetch': SKILLS,
  'sep-2640-client-verify-digest': SKILLS,
  'sep-2640-client-verify-size': SKILLS,
  'sep-2640-client-verify-frontmatter': SKILLS,
};

const RUNS = [
  { name: '2025-11-25', args: ['--suite', 'all', '--spec-version', '2025-11-25'], scenarios: 19 },
  { name: '2026-07-28', args: ['--suite', 'all', '--spec-version', '2026-07-28'], scenarios: 33 },
  { name: '2025-03-26, its sign-in', args: ['--suite', 'backcompat'], scenarios: 2 },
];

const WRONG_ISSUER = /failed: the response does not come from the expected authorization server/;

/** The scenarios with a server that the client must refuse, and the message for the user. */
const FAILURES: Readonly<Record<string, RegExp>> = {
  'auth/scope-retry-limit': /Insufficient scope: required "mcp:admin"/,
  'auth/resource-mismatch': /The sign-in to conformance failed: Protected resource \S+ does not match/,
  'auth/iss-supported-missing': WRONG_ISSUER,
  'auth/iss-wrong-issuer': WRONG_ISSUER,
  'auth/iss-unexpected': WRONG_ISSUER,
  'auth/iss-normalized': WRONG_ISSUER,
  'auth/metadata-issuer-mismatch': WRONG_ISSUER,
};

/** Long, because all scenarios of a suite run at once. */
const SCENARIO_TIMEOUT_MS = 120_000;

/** Bundled, because the suite starts the client for every scenario. */
const bundled = createTemporaryFolder();
const client = join(bundled.path, 'client.mjs');
before(() =>
  build({
    entryPoints: [join(import.meta.dirname, 'client.ts')],
    outfile: client,
    bundle: true,
    platform: 'node',
    format: 'esm',
    // CommonJS packages require Node's own modules.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    logLevel: 'warning',
  }),
);
after(() => bundled[Symbol.dispose]());

describe('the client passes the conformance suite of the protocol', () => {
  for (const { name, args, scenarios } of RUNS) {
    test(`at ${name}`, async (t) => {
      using folder = createTemporaryFolder();
      const started = ['client', '--command', `${process.execPath} ${client}`, ...args, '--verbose'];
      const { output, errors } = await runSuite(
        [...started, '--timeout', `${SCENARIO_TIMEOUT_MS}`],
        folder.path,
      );
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
      // A scenario without a passed check has tested nothing.
      assert.doesNotMatch(summary, /: 0 passed/, `${summary}\n${errors}`);
      assert.equal(failed, '0', `${summary}\n${output}\n${errors}`);
      assert.equal(warnings, '0', `${summary}\n${output}`);
      for (const [, scenario = '', reason = ''] of failures) {
        assert.match(reason, FAILURES[scenario] ?? /^$/, `${scenario} failed: ${reason}`);
      }
    });
  }

  test('except for the extensions, each left out for a reason', async (t) => {
    assert.deepEqual(new Set(await listExtensions('client')), new Set(Object.keys(LEFT_OUT)));
    for (const [scenario, reason] of Object.entries(LEFT_OUT)) t.diagnostic(`${scenario}: ${reason}`);
  });
});

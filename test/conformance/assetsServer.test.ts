import { createTemporaryFolder } from '../kit/folder.ts';
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import {
  CHAT_URI,
  createNotes,
  IMAGE_URI,
  LOOSE_URI,
  REPORT_URI,
  startOverHttp,
} from '../integration/helpers/assetsServer.ts';

import { startTokenProxy } from './tokenProxy.ts';

/** The resources that the suite expects of a server, and those of ours that stand in for them. */
const RENAMED = {
  'test://static-text': REPORT_URI,
  'test://static-binary': IMAGE_URI,
  'test://template/123/data': LOOSE_URI,
  'test://watched-resource': CHAT_URI,
};

const OWN_TOOL = 'calls a tool that only the suite’s own server has';
const PROMPTS = 'there are no prompts here';
const ASKS = 'asks the client something in the middle of a call, which nothing here does';

/** What must pass entirely. */
const APPLY: ReadonlySet<string> = new Set([
  'server-initialize',
  'server-session-lifecycle',
  'ping',
  'tools-list',
  'server-sse-multiple-streams',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'resources-subscribe',
  'resources-unsubscribe',
  'sep-2164-resource-not-found',
  'dns-rebinding-protection',
  'http-header-validation',
  'input-required-result-unsupported-methods',
  'input-required-result-validate-input',
]);

interface LeftOut {
  readonly reason: string;
  /** Where the rest applies and must pass, the checks that do not. */
  readonly checks?: readonly string[];
}

const LEFT_OUT: Readonly<Record<string, LeftOut>> = {
  'server-stateless': {
    reason: `four of its checks need tools of the suite’s own server; the others pass`,
    checks: [
      'sep-2575-server-rejects-undeclared-capability',
      'sep-2575-missing-capability-http-400',
      'sep-2575-http-server-no-independent-requests-on-stream',
      'sep-2575-server-no-log-without-loglevel',
    ],
  },
  caching: { reason: PROMPTS, checks: ['sep-2549-prompts-list-caching-hints'] },
  'logging-set-level': { reason: 'nothing is logged to clients; stderr is for who runs the server' },
  'completion-complete': { reason: 'completes the argument of a prompt; ours are those of the templates' },
  'tools-call-simple-text': { reason: OWN_TOOL },
  'tools-call-image': { reason: OWN_TOOL },
  'tools-call-audio': { reason: OWN_TOOL },
  'tools-call-embedded-resource': { reason: OWN_TOOL },
  'tools-call-mixed-content': { reason: OWN_TOOL },
  'tools-call-with-logging': { reason: OWN_TOOL },
  'tools-call-error': { reason: OWN_TOOL },
  'tools-call-with-progress': { reason: OWN_TOOL },
  'tools-call-sampling': { reason: ASKS },
  'tools-call-elicitation': { reason: ASKS },
  'json-schema-2020-12': { reason: OWN_TOOL },
  'elicitation-sep1034-defaults': { reason: ASKS },
  'elicitation-sep1330-enums': { reason: ASKS },
  'server-sse-polling': {
    reason: 'streams cannot be taken up again: every answer is quick enough to ask for anew',
  },
  'http-custom-header-server-validation': { reason: 'no argument of ours is sent as a header' },
  'prompts-list': { reason: PROMPTS },
  'prompts-get-simple': { reason: PROMPTS },
  'prompts-get-with-args': { reason: PROMPTS },
  'prompts-get-embedded-resource': { reason: PROMPTS },
  'prompts-get-with-image': { reason: PROMPTS },
  'input-required-result-basic-elicitation': { reason: ASKS },
  'input-required-result-basic-sampling': { reason: ASKS },
  'input-required-result-basic-list-roots': { reason: ASKS },
  'input-required-result-request-state': { reason: ASKS },
  'input-required-result-multiple-input-requests': { reason: ASKS },
  'input-required-result-multi-round': { reason: ASKS },
  'input-required-result-non-tool-request': { reason: ASKS },
  'input-required-result-result-type': { reason: ASKS },
  'input-required-result-tampered-state': { reason: ASKS },
  'input-required-result-capability-check': { reason: ASKS },
  'input-required-result-missing-input-response': { reason: ASKS },
  'input-required-result-ignore-extra-params': { reason: ASKS },
};

/** Extensions belong to no revision, and none is offered here. */
const EXTENSIONS: readonly [name: RegExp, reason: string][] = [
  [/^tasks-/, 'everything is answered at once: nothing here takes long enough to be a task'],
  [/^sep-2640-skills-/, 'skills are not offered'],
];

const RUNS = [
  { version: '2025-11-25', scenarios: 33 },
  { version: '2026-07-28', scenarios: 40 },
] as const;

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}

const RUNNER = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'));

describe('the conformance suite finds no fault with the assets server', () => {
  for (const { version, scenarios } of RUNS) {
    test(`at ${version}`, async (t) => {
      const notes = createNotes(t);
      const { url: target, token } = await startOverHttp(t, [notes.path]);
      const proxy = await startTokenProxy({ target, token, renamed: RENAMED });
      t.after(() => proxy.close());
      using results = createTemporaryFolder();
      const asked = ['server', '--url', proxy.url, '--suite', 'all', '--spec-version', version];
      const output = await runRunner([...asked, '-o', results.path]);
      const found = readResults(results.path);
      assert.equal(found.size, scenarios, output);
      let passed = 0;
      for (const [scenario, checks] of found) {
        passed += checks.filter(({ status }) => status === 'SUCCESS').length;
        checkScenario(scenario, checks);
      }
      const whole = [...found.keys()].filter((scenario) => APPLY.has(scenario)).length;
      t.diagnostic(`${whole} of ${found.size} scenarios apply and pass; ${passed} checks passed in all`);
    });
  }

  test('in everything but the extensions that are left out, each for a reason', async () => {
    const listed = await runRunner(['list', '--server']);
    const extensions = [...listed.matchAll(/^ {2}- (\S+) \[extension\]$/gm)].map(([, scenario]) => scenario);
    assert.ok(extensions.length > 0, listed);
    for (const scenario of extensions)
      assert.ok(
        EXTENSIONS.some(([name]) => name.test(scenario ?? '')),
        `${scenario} is new`,
      );
  });
});

function checkScenario(scenario: string, checks: readonly Check[]): void {
  const failed = checks.filter(
    ({ status }) => status !== 'SUCCESS' && status !== 'INFO' && status !== 'SKIPPED',
  );
  const said = `${scenario}: ${JSON.stringify(failed, null, 2)}`;
  if (APPLY.has(scenario)) {
    assert.deepEqual(failed, [], said);
    // A scenario without a single check has tried nothing.
    assert.ok(
      checks.some(({ status }) => status === 'SUCCESS'),
      said,
    );
    return;
  }
  const left = LEFT_OUT[scenario];
  assert.ok(left, `${scenario} is new: does it apply?`);
  if (left.checks) assert.deepEqual(failed.map(({ id }) => id).sort(), [...left.checks].sort(), said);
  else assert.ok(failed.length > 0, `${scenario} passes now: it need not be left out.`);
}

/** Each scenario has a folder of its own, with its checks. */
function readResults(folder: string): Map<string, readonly Check[]> {
  const found = new Map<string, readonly Check[]>();
  for (const name of readdirSync(folder)) {
    const [, scenario = name] = /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
    found.set(scenario, JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')));
  }
  return found;
}

/** It exits with a failure when a check has failed, which the results say better. */
function runRunner(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    const options = { cwd: import.meta.dirname, maxBuffer: 64 * 1024 * 1024 };
    execFile(process.execPath, [RUNNER, ...args], options, (_error, output, errors) =>
      resolve(output + errors),
    );
  });
}

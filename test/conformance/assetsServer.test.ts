import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import {
  CHAT_URI,
  createNotes,
  IMAGE_URI,
  LOOSE_URI,
  REPORT_URI,
  startOverHttp,
} from '../integration/helpers/assetsServer.ts';
import { createTemporaryFolder } from '../kit/folder.ts';
import { listExtensions, runSuite } from './runner.ts';
import { startTokenProxy } from './tokenProxy.ts';

/** The suite's own resources, and the resources that replace them. */
const RENAMED = {
  'test://static-text': REPORT_URI,
  'test://static-binary': IMAGE_URI,
  'test://template/123/data': LOOSE_URI,
  'test://watched-resource': CHAT_URI,
};

const words = (text: string) => text.trim().split(/\s+/);

/** The scenarios of which all checks must pass. */
const APPLY: ReadonlySet<string> = new Set(
  words(`
    server-initialize server-session-lifecycle ping tools-list server-sse-multiple-streams
    resources-list resources-read-text resources-read-binary resources-templates-read
    resources-subscribe resources-unsubscribe sep-2164-resource-not-found
    dns-rebinding-protection http-header-validation
    input-required-result-unsupported-methods input-required-result-validate-input
  `),
);

/** The scenarios in which some checks do not apply. The others must pass. */
const PARTLY: Readonly<Record<string, readonly string[]>> = {
  // These need tools of the suite's own server.
  'server-stateless': words(`
    sep-2575-server-rejects-undeclared-capability sep-2575-missing-capability-http-400
    sep-2575-http-server-no-independent-requests-on-stream sep-2575-server-no-log-without-loglevel
  `),
  // There are no prompts.
  caching: ['sep-2549-prompts-list-caching-hints'],
};

/** The scenarios that do not apply, by the reason. */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'logs go to stderr, not to clients': ['logging-set-level'],
  'completes the argument of a prompt; this server completes those of templates': ['completion-complete'],
  'calls a tool of the suite’s own server': words(`
    tools-call-simple-text tools-call-image tools-call-audio tools-call-embedded-resource
    tools-call-mixed-content tools-call-with-logging tools-call-error tools-call-with-progress
    json-schema-2020-12
  `),
  'streams cannot be resumed: every request is fast enough to repeat': ['server-sse-polling'],
  'no argument is sent as a header': ['http-custom-header-server-validation'],
  'there are no prompts': words(`
    prompts-list prompts-get-simple prompts-get-with-args prompts-get-embedded-resource prompts-get-with-image
  `),
  'sends a request to the client during a call': words(`
    tools-call-sampling tools-call-elicitation elicitation-sep1034-defaults elicitation-sep1330-enums
    input-required-result-basic-elicitation input-required-result-basic-sampling
    input-required-result-basic-list-roots input-required-result-request-state
    input-required-result-multiple-input-requests input-required-result-multi-round
    input-required-result-non-tool-request input-required-result-result-type
    input-required-result-tampered-state input-required-result-capability-check
    input-required-result-missing-input-response input-required-result-ignore-extra-params
  `),
};

/** Extensions that are not supported, with the reason. */
const EXTENSIONS: readonly [name: RegExp, reason: string][] = [
  [/^tasks-/, 'no request takes long enough for a task'],
  [/^sep-2640-skills-/, 'skills are not supported'],
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

describe('the assets server passes the conformance suite', () => {
  for (const { version, scenarios } of RUNS) {
    test(`at ${version}`, async (t) => {
      const notes = createNotes(t);
      const { url: target, token } = await startOverHttp(t, [notes.path]);
      const url = await startTokenProxy(t, { target, token, renamed: RENAMED });
      using results = createTemporaryFolder();
      const args = ['server', '--url', url, '--suite', 'all', '--spec-version', version];
      const { output, errors } = await runSuite([...args, '-o', results.path]);
      const found = readResults(results.path);
      assert.equal(found.size, scenarios, output + errors);
      let passed = 0;
      for (const [scenario, checks] of found) {
        passed += checks.filter(({ status }) => status === 'SUCCESS').length;
        checkScenario(scenario, checks);
      }
      const whole = [...found.keys()].filter((scenario) => APPLY.has(scenario)).length;
      t.diagnostic(`${whole} of ${found.size} scenarios apply and pass; ${passed} checks passed in all`);
    });
  }

  test('except for the extensions, each left out for a reason', async () => {
    const extensions = await listExtensions('server');
    const isLeftOut = (scenario: string) => EXTENSIONS.some(([name]) => name.test(scenario));
    assert.ok(extensions.length > 0);
    assert.deepEqual(
      extensions.filter((scenario) => !isLeftOut(scenario)),
      [],
    );
  });
});

function checkScenario(scenario: string, checks: readonly Check[]): void {
  const failed = checks.filter(({ status }) => !['SUCCESS', 'INFO', 'SKIPPED'].includes(status));
  const failedIds = failed.map(({ id }) => id).sort();
  const details = `${scenario}: ${JSON.stringify(failed, null, 2)}`;
  const partly = PARTLY[scenario];
  if (APPLY.has(scenario)) {
    assert.deepEqual(failedIds, [], details);
    // A scenario without a passed check has tested nothing.
    assert.ok(
      checks.some(({ status }) => status === 'SUCCESS'),
      details,
    );
  } else if (partly) assert.deepEqual(failedIds, partly.toSorted(), details);
  else {
    assert.ok(Object.values(LEFT_OUT).flat().includes(scenario), `${scenario} is new: does it apply?`);
    assert.ok(failed.length > 0, `${scenario} passes now: it need not be left out.`);
  }
}

/** Each scenario has a folder with its checks. */
function readResults(folder: string): Map<string, readonly Check[]> {
  const found = new Map<string, readonly Check[]>();
  for (const name of readdirSync(folder)) {
    const [, scenario = name] = /^server-(.+?)-\d{4}-\d\d-\d\dT/.exec(name) ?? [];
    found.set(scenario, JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')));
  }
  return found;
}

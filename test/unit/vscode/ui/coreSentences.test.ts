import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { Backoff } from '../../../../src/base/async.ts';
import { parseArguments } from '../../../../src/chat/format/callInfo.ts';
import { readSettings } from '../../../../src/chat/format/frontMatter.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { explainFailure, explainTimeout } from '../../../../src/mcp/connection/explainFailure.ts';
import { EDITOR_ADVICE } from '../../../../src/mcp/pool/options.ts';
import { checkAnswer } from '../../../../src/mcp/schema/answer.ts';
import { argumentQuestions } from '../../../../src/mcp/schema/arguments.ts';
import { listModels } from '../../../../src/model/config/listModels.ts';
import { findModel } from '../../../../src/model/config/modelConfig.ts';
import type { RunOutcome } from '../../../../src/ports/document.ts';
import { localSentence } from '../../../../src/vscode/ui/coreSentences.ts';
import { useTranslation } from '../../../../src/vscode/ui/words.ts';
import {
  type Answer,
  call,
  finish,
  HI,
  makes,
  play,
  type SceneOptions,
  says,
  scene,
  text,
} from '../../loop/scriptedChat.ts';

const stdio = { kind: 'stdio', command: 'x', args: [], env: {} } as const;
const http = { kind: 'http', url: 'http://127.0.0.1:1/mcp', headers: {} } as const;
const code = (name: string) => Object.assign(new Error('why'), { code: name });
const timeout = explainTimeout(60_000, EDITOR_ADVICE.timeoutSetting);

/** What the core says, by its own functions, so that the two cannot drift apart. */
const REASONS: readonly (string | undefined)[] = [
  ...['ENOENT', 'EACCES'].flatMap((each) => [
    explainFailure(code(each), stdio, timeout),
    explainFailure(code(each), { ...stdio, cwd: '/a' }, timeout),
  ]),
  explainFailure(code('ENOENT'), { ...stdio, command: 'x y' }, timeout),
  ...['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'ECONNRESET', 'ETIMEDOUT', 'EWHATEVER'].map((each) =>
    explainFailure(code(each), http, timeout),
  ),
  ...[400, 401, 403, 404, 405, 418, 429, 500].map((status) =>
    explainFailure(
      new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status, statusText: '' }),
      http,
      timeout,
    ),
  ),
  timeout,
  String(findModel('x', new Map())).slice(0, -1),
  String(findModel('x', new Map([['a', { name: 'a', provider: 'tour', model: '' }]]))).slice(0, -1),
  `${timeout}. It wrote nothing to stderr; run its command in a terminal`,
];

const ANSWERED = `${HI}\n# %% assistant\nHo\n`;

async function runAgain(
  chat: string,
  answers: readonly Answer[],
  options?: SceneOptions,
): Promise<RunOutcome> {
  return (await play(chat, answers, options)).outcome;
}

const callTool = (server: string, tool: string, options?: SceneOptions) =>
  scene(HI, [], options).listener.callTool({ server, tool, arguments: {} });

/** How runs and calls end without success. */
const OUTCOMES: Readonly<Record<string, () => Promise<RunOutcome>>> = {
  'an empty chat': () => runAgain('', []),
  'nothing to send': () => runAgain(`${ANSWERED}\n# %% user\n`, []),
  'the token limit': () => runAgain(HI, [() => [text('One'), finish('length')]]),
  'a content filter': () => runAgain(HI, [() => [text('Well'), finish('refused')]]),
  'an empty reply': () => runAgain(HI, [says('')]),
  'the limit of steps': () => runAgain(HI, [makes(call('a__read')), makes(call('a__read'))], { maxSteps: 2 }),
  'the limit of one step': () => runAgain(HI, [makes(call('a__read'))], { maxSteps: 1 }),
  'an open fence': () =>
    scene(`${HI}\n\`\`\`\n`, []).listener.callTool({ server: 'a', tool: 'read', arguments: {} }),
  'half a summary': () => scene(ANSWERED, [() => [text('S'), finish('length')]]).listener.compact(),
  'an empty summary': () => scene(ANSWERED, [says('')]).listener.compact(),
  'a tool that is turned off': () => callTool('a', 'read', { isSwitchedOff: () => true }),
  'a tool for apps': () => callTool('a', 'read', { toolInfo: { forAppsOnly: true } }),
  'an unknown tool': () => callTool('a', 'fly'),
  'a tool that the chat excludes': () =>
    scene(`---\ntools: []\n---\n${HI}`, []).listener.callTool({ server: 'a', tool: 'read', arguments: {} }),
};

const FISH = { type: 'array', items: { enum: ['a', 'b'] }, minItems: 1, maxItems: 1, uniqueItems: true };
const ANSWERS: readonly (readonly [schema: object, text: string])[] = [
  [{ type: 'string' }, ''],
  [{ type: 'string', minLength: 3 }, 'a'],
  [{ type: 'string', maxLength: 1 }, 'abc'],
  [{ type: 'string', format: 'email' }, 'me@'],
  [{ enum: ['a', 'b'] }, 'c'],
  [FISH, 'c'],
  [FISH, '[]'],
  [FISH, 'a,b'],
  [FISH, 'a,a'],
  [{ type: 'boolean' }, 'maybe'],
  [{ type: 'number' }, 'three'],
  [{ type: 'integer' }, 'three'],
  [{ type: 'integer' }, '1.5'],
  [{ type: 'integer' }, '9007199254740993'],
  [{ type: 'number', minimum: 2 }, '1'],
  [{ type: 'number', maximum: 2 }, '3'],
  [{ type: 'number', exclusiveMinimum: 2 }, '2'],
  [{ type: 'number', exclusiveMaximum: 2 }, '2'],
  [{ type: 'number', multipleOf: 5 }, '7'],
  [{ type: 'object' }, '[]'],
  [{ type: 'array' }, '{}'],
  [{ type: 'array' }, 'abc'],
];

const PROBLEMS = [
  '# %% user\n```\n',
  '# %% user\n```tool_call x\n```\n',
  '# %% user\n```tool_call a.b c d\n```\n',
  '---\nfoo: 1\n---\n',
  '---\nmodel: [1]\n---\n',
  '---\nmaxSteps: x\n---\n',
  '---\ntemperature: 9\n---\n',
  '---\napprove: x\n---\n',
  '---\nreasoning: x\n---\n',
  '---\ntools: {a: 1}\n---\n',
  '---\n- a\n---\n',
  '---\na: [\n---\n',
];

describe('a sentence of the core', () => {
  // Every translated sentence is in marks.
  before(() => useTranslation((message) => `«${message}»`, 'xx'));
  after(() => useTranslation());

  for (const reason of REASONS) {
    it(`${reason}`, () => {
      assert.ok(reason);
      assert.match(localSentence(reason), /^«.*»$/);
      assert.match(
        localSentence(`Server a could not be started: ${reason}.`),
        /^«Server a could not be started: «.*»»\.$/,
      );
    });
  }

  for (const [name, ending] of Object.entries(OUTCOMES)) {
    it(`about ${name}`, async () => {
      const { error = 'no error' } = await ending();
      assert.match(localSentence(error), /^«.*»[.]?$/);
    });
  }

  for (const text of PROBLEMS) {
    it(`about ${JSON.stringify(text)}`, () => {
      const chat = parseChat(text);
      const problems = [...readSettings(chat).problems, ...chat.problems];
      assert.ok(problems.length > 0);
      for (const { message } of problems) {
        assert.match(localSentence(message), /^«.*»\.?$/);
        assert.match(localSentence(`Line 2: ${message}`), /^«Line 2: «.*»»\.?$/);
      }
    });
  }

  for (const text of ['[1]', '{', '['.repeat(2000) + ']'.repeat(2000)]) {
    it(`about the arguments ${text.slice(0, 9)}`, () => {
      const read = parseArguments(text);
      assert.match(read.ok ? '' : localSentence(read.message), /^«.*»\.?$/s);
    });
  }

  it('about a list of models', async () => {
    for (const [status, body] of [
      [404, ''],
      [200, '{"a": 1}'],
      [302, ''],
    ] as const) {
      const fetch = async () => new Response(body, { status });
      const config = { provider: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } as const;
      await assert.rejects(listModels(config, { fetch }), ({ message }: Error) =>
        /^«.*»\.$/.test(localSentence(message)),
      );
    }
  });

  for (const [schema, text] of ANSWERS) {
    it(`about the answer “${text}” to ${JSON.stringify(schema)}`, () => {
      const [question] = argumentQuestions({ properties: { x: schema }, required: ['x'] });
      assert.ok(question);
      const answer = checkAnswer(question, text);
      assert.match(answer.ok ? 'accepted' : localSentence(answer.message), /^«.*»\.?$/);
    });
  }

  it('is translated when the server is not started again', () => {
    const backoff = new Backoff();
    backoff.failed('Server a could not be started: its process ended. Oh.', { nowMs: 0, livedMs: undefined });
    assert.equal(
      localSentence(backoff.refusal(0, 'a', EDITOR_ADVICE.restart) ?? ''),
      '««Server a could not be started: «its process ended. Oh»». Fix the cause, then run “Filechat: Restart Server”».',
    );
    const often = new Backoff();
    for (const _ of [1, 2, 3]) often.failed('Oh.', { nowMs: 0, livedMs: 1 });
    assert.match(
      localSentence(often.refusal(0, 'a', EDITOR_ADVICE.restart) ?? ''),
      /^«Server a failed 3 times/,
    );
  });

  it('in the words of the server stays as it is', () => {
    assert.equal(localSentence('Missing API token.'), 'Missing API token.');
  });
});

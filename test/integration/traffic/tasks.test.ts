/** Calls that run as tasks, in both forms of the protocol. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Elicitation } from '../../../src/ports/servers.ts';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { textResult } from '../helpers/legacySite.ts';
import { firstText, serve } from '../helpers/serving.ts';
import { type SiteOptions, serveSite } from './site.ts';

const state = (status: string, more: object = {}) => ({ taskId: 't1', status, ...more });
const FAST = { pollInterval: 50, pollIntervalMs: 50 };

/** Answers with the next of these states at each poll. */
function states(...given: object[]) {
  return () => given.shift() ?? assert.fail('It was polled after its end.');
}

describe('a tool of 2025-11-25', () => {
  const capabilities = { tools: {}, tasks: { requests: { tools: { call: {} } }, cancel: {} } };
  const site = (support: string, more: Partial<SiteOptions> = {}): SiteOptions => ({
    tools: [{ name: 'slow', execution: { taskSupport: support } }],
    capabilities,
    on: {
      'tools/call': ({ task }) => (task ? { task: state('working', FAST) } : textResult('not a task')),
      'tasks/get': states(state('working', { statusMessage: 'Half done', ...FAST }), state('completed')),
      'tasks/result': () => textResult('done'),
    },
    ...more,
  });

  for (const support of ['required', 'optional']) {
    test(`whose tasks are ${support} is called as a task, and its state is progress`, async (t) => {
      const { config, methods } = await serveSite(t, site(support));
      const { call } = serve(t, { web: config });
      const seen: ToolProgress[] = [];
      const result = await call('web.slow', {}, { onProgress: (progress) => seen.push(progress) });
      assert.equal(firstText(result), 'done');
      assert.deepEqual(seen, [{ message: 'Half done' }]);
      assert.deepEqual(methods(), ['tools/list', 'tools/call', 'tasks/get', 'tasks/get', 'tasks/result']);
    });
  }

  test('whose tasks are optional is called without one if its server has no tasks', async (t) => {
    const { config, methods } = await serveSite(t, site('optional', { capabilities: { tools: {} } }));
    const { text } = serve(t, { web: config });
    assert.equal(await text('web.slow'), 'not a task');
    assert.deepEqual(methods(), ['tools/list', 'tools/call']);
  });
});

describe('a server of 2026-07-28 that continues a call as a task', () => {
  const TASKS = 'io.modelcontextprotocol/tasks';
  const CLIENT = 'io.modelcontextprotocol/clientCapabilities';
  const capabilities = { tools: {}, extensions: { [TASKS]: {} } };
  const CREATED = { resultType: 'task', ...state('working', FAST) };
  const site = (on: NonNullable<SiteOptions['on']>): SiteOptions => ({
    tools: [{ name: 'slow' }],
    capabilities,
    isModern: true,
    on: { 'tools/call': () => CREATED, ...on },
  });

  test('is polled for its result, which is complete', async (t) => {
    const result = { ...textResult('done'), extra: true };
    const { config, heard, methods } = await serveSite(
      t,
      site({
        'tasks/get': states(
          state('working', { statusMessage: 'Half done', ...FAST }),
          state('completed', { result }),
        ),
      }),
    );
    const { call } = serve(t, { web: config });
    const seen: ToolProgress[] = [];
    assert.deepEqual(await call('web.slow', {}, { onProgress: (progress) => seen.push(progress) }), result);
    assert.deepEqual(seen, [{ message: 'Half done' }]);
    assert.deepEqual(methods(), ['tools/list', 'tools/call', 'tasks/get', 'tasks/get']);
    const called = heard.find(({ method }) => method === 'tools/call');
    const meta = called?.params['_meta'] as Readonly<Record<string, { extensions?: object }>> | undefined;
    assert.deepEqual(
      meta?.[CLIENT]?.extensions,
      { [TASKS]: {} },
      'each request says that tasks are supported',
    );
    const polls = heard.filter(({ method }) => method === 'tasks/get');
    assert.deepEqual(
      polls.map(({ headers }) => headers['mcp-name']),
      ['t1', 't1'],
    );
  });

  test('gets an answer of the user while the task waits for it', async (t) => {
    const params = {
      mode: 'form',
      message: 'Who?',
      requestedSchema: { type: 'object', properties: { name: { type: 'string' } } },
    };
    const inputRequests = { who: { method: 'elicitation/create', params } };
    const updates: unknown[] = [];
    const { config } = await serveSite(
      t,
      site({
        'tasks/get': () =>
          updates.length === 0
            ? state('input_required', { inputRequests, ...FAST })
            : state('completed', { result: textResult(JSON.stringify(updates)) }),
        'tasks/update': ({ taskId, inputResponses }) => {
          updates.push({ taskId, inputResponses });
          return {};
        },
      }),
    );
    const asked: Elicitation[] = [];
    const { text } = serve(
      t,
      { web: config },
      {
        requests: {
          elicit: async (elicitation) => {
            asked.push(elicitation);
            return { action: 'accept', content: { name: 'Ada' } };
          },
        },
      },
    );
    const inputResponses = { who: { action: 'accept', content: { name: 'Ada' } } };
    assert.deepEqual(JSON.parse(await text('web.slow')), [{ taskId: 't1', inputResponses }]);
    assert.deepEqual(
      asked.map(({ message }) => message),
      ['Who?'],
    );
  });

  test('is told to cancel the task when the user stops', async (t) => {
    const cancelled = Promise.withResolvers<unknown>();
    const stop = new AbortController();
    const { config } = await serveSite(
      t,
      site({
        'tasks/get': () => {
          stop.abort(new Error('stopped'));
          return state('working', FAST);
        },
        'tasks/cancel': ({ taskId }, { request }) => {
          cancelled.resolve([taskId, request.headers['mcp-name']]);
          return {};
        },
      }),
    );
    const { call } = serve(t, { web: config });
    await assert.rejects(call('web.slow', {}, { signal: stop.signal }), /^Error: stopped$/);
    assert.deepEqual(await cancelled.promise, ['t1', 't1']);
  });

  test('and then refuses the headers of a poll is not sent the call again', async (t) => {
    const { config, methods } = await serveSite(
      t,
      site({
        'tasks/get': (_params, { id, response }) => {
          const error = { code: -32020, message: 'The headers do not match.' };
          response.writeHead(200, { 'content-type': 'application/json' });
          response.end(JSON.stringify({ jsonrpc: '2.0', id, error }));
          return 'taken';
        },
        'tasks/cancel': () => ({}),
      }),
    );
    const { call } = serve(t, { web: config });
    await assert.rejects(call('web.slow'), /The headers do not match/);
    assert.equal(methods().filter((method) => method === 'tools/call').length, 1);
  });

  test('that fails says why', async (t) => {
    const error = { code: -32603, message: 'The disk is full.' };
    const { config } = await serveSite(t, site({ 'tasks/get': states(state('failed', { error })) }));
    const { call } = serve(t, { web: config });
    await assert.rejects(call('web.slow'), {
      message: 'Tool slow of server web failed: its task failed: The disk is full.',
    });
  });
});

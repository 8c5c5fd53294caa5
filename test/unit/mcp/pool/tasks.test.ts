import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  callAsTask,
  type FollowOptions,
  followTask,
  type SendRequest,
  type TaskRequestOptions,
} from '../../../../src/mcp/pool/tasks.ts';
import type { ToolProgress } from '../../../../src/ports/tools.ts';

type Answer = object | Error | ((options: TaskRequestOptions) => Promise<unknown>);
const task = (status: unknown, more: object = {}) => ({ taskId: 'id', status, ...more });
const RESULT = { content: [{ type: 'text', text: 'done' }] };

/** Answers each request with the next entry of the script, and records requests and delays. */
function play(script: Readonly<Record<string, readonly Answer[]>>) {
  const left = new Map(Object.entries(script).map(([method, answers]) => [method, [...answers]]));
  const asked: string[] = [];
  const waited: number[] = [];
  const told: ToolProgress[] = [];
  const abort = new AbortController();
  const options = new Map<string, TaskRequestOptions>();
  const request: SendRequest = async (method, params, own) => {
    asked.push(`${method} ${JSON.stringify(params)}`);
    options.set(method, own);
    const answer = left.get(method)?.shift() ?? new Error(`No answer to ${method} is scripted.`);
    if (answer instanceof Error) throw answer;
    return typeof answer === 'function' ? answer(own) : answer;
  };
  const context = {
    signal: abort.signal,
    onProgress: (progress: ToolProgress) => void told.push(progress),
    wait: async (ms: number) => void waited.push(ms),
  };
  const run = () => callAsTask(request, { ...context, params: { name: 't', arguments: { x: 1 } } });
  /** As a task of the extension, which the server has created. */
  const follow = (created: object, answer: FollowOptions['answer'] = async () => ({})) =>
    followTask(request, created, { ...context, answer });
  return { run, follow, asked, waited, told, abort, options };
}

const methods = (asked: readonly string[]) => asked.map((each) => each.split(' ')[0]);
/** Rejects when the request is aborted. */
const untilAborted = ({ signal }: TaskRequestOptions) =>
  new Promise<never>((_, reject) => {
    signal?.addEventListener('abort', () => reject(new Error('The request was cancelled.')));
  });

describe('a call as a task', () => {
  it('is started, polled at the interval of the server, and its result is requested', async () => {
    const { run, asked, waited } = play({
      'tools/call': [{ task: task('working', { pollInterval: 200 }) }],
      'tasks/get': [task('working', { pollInterval: 300 }), task('completed')],
      'tasks/result': [RESULT],
    });
    assert.equal(await run(), RESULT);
    assert.deepEqual(asked, [
      'tools/call {"name":"t","arguments":{"x":1},"task":{"ttl":3600000}}',
      'tasks/get {"taskId":"id"}',
      'tasks/get {"taskId":"id"}',
      'tasks/result {"taskId":"id"}',
    ]);
    assert.deepEqual(waited, [200, 300]);
  });

  it('that completes at once is not polled', async () => {
    const { run, asked } = play({ 'tools/call': [{ task: task('completed') }], 'tasks/result': [RESULT] });
    assert.equal(await run(), RESULT);
    assert.deepEqual(methods(asked), ['tools/call', 'tasks/result']);
  });

  it('that the server runs without a task has a result', async () => {
    const { run, asked } = play({ 'tools/call': [RESULT] });
    assert.equal(await run(), RESULT);
    assert.equal(asked.length, 1);
  });

  it('is polled within limits, whatever the interval of the server', async () => {
    const intervals = [0, -5, 1, 49.6, 1e9, Number.POSITIVE_INFINITY, '5', null];
    const { run, waited } = play({
      'tools/call': [{ task: task('working') }],
      'tasks/get': [...intervals.map((pollInterval) => task('working', { pollInterval })), task('completed')],
      'tasks/result': [RESULT],
    });
    await run();
    assert.deepEqual(waited, [100, 200, 400, 50, 50, 30_000, 30_000, 1000, 1000]);
  });

  it('reports each status message once, in one short line', async () => {
    const { run, told } = play({
      'tools/call': [{ task: task('working', { statusMessage: 'Reading…' }) }],
      'tasks/get': [
        task('working', { statusMessage: 'Reading…' }),
        task('working', { statusMessage: ' ' }),
        task('working', { statusMessage: `Writing\n${'x'.repeat(1e6)}` }),
        task('completed'),
      ],
      'tasks/result': [RESULT],
    });
    await run();
    assert.equal(told.length, 2);
    assert.deepEqual(told[0], { message: 'Reading…' });
    assert.match(told[1]?.message ?? '', /^Writing x{400,500}$/);
  });

  it('that requires input requests its result with a long timeout', async () => {
    const { run, asked, options } = play({
      'tools/call': [{ task: task('working') }],
      'tasks/get': [task('input_required', { statusMessage: 'Which one?' })],
      'tasks/result': [RESULT],
    });
    assert.equal(await run(), RESULT);
    assert.deepEqual(methods(asked), ['tools/call', 'tasks/get', 'tasks/result']);
    assert.equal(options.get('tasks/result')?.patient, true);
    assert.equal(options.get('tasks/get')?.patient, undefined);
  });
});

describe('a task that fails', () => {
  it('has the result of the server', async () => {
    const result = { isError: true, content: [] };
    const { run } = play({ 'tools/call': [{ task: task('failed') }], 'tasks/result': [result] });
    assert.equal(await run(), result);
  });

  const endings: Readonly<Record<string, readonly [object, string]>> = {
    'that failed': [{ status: 'failed', statusMessage: 'disk full' }, 'its task failed: disk full'],
    'that failed without a message': [{ status: 'failed' }, 'its task failed: no result'],
    'that the server cancelled': [{ status: 'cancelled' }, 'the server cancelled its task: no result'],
  };
  for (const [which, [state, message]] of Object.entries(endings)) {
    it(`${which} is reported, and not cancelled again`, async () => {
      const { run, asked } = play({
        'tools/call': [{ task: task('working') }],
        'tasks/get': [{ ...task(''), ...state }],
        'tasks/result': [new Error('no result')],
      });
      await assert.rejects(run(), { message });
      assert.deepEqual(methods(asked), ['tools/call', 'tasks/get', 'tasks/result']);
    });
  }

  it('without an id is not polled', async () => {
    for (const created of [{ status: 'working' }, { taskId: 7 }, 'x', null]) {
      const { run, asked } = play({ 'tools/call': [{ task: created }] });
      await assert.rejects(run(), { message: /task without an id/ });
      assert.equal(asked.length, 1);
    }
  });

  it('with an id that is too long is refused', async () => {
    const created = { taskId: 'x'.repeat(5000), status: 'working' };
    const { run } = play({ 'tools/call': [{ task: created }] });
    await assert.rejects(run(), { message: /id of 5000 characters/ });
  });

  it('with an unknown status is cancelled', async () => {
    for (const status of ['paused', undefined, { a: 1 }, 'x'.repeat(1e6)]) {
      const { run, asked } = play({
        'tools/call': [{ task: task('working') }],
        'tasks/get': [task(status)],
        'tasks/cancel': [{}],
      });
      await assert.rejects(run(), (error: Error) => {
        assert.match(error.message, /^it reports .{1,110} as the status of its task, not/);
        return true;
      });
      assert.equal(asked.at(-1), 'tasks/cancel {"taskId":"id"}');
    }
  });

  it('that cannot be polled is cancelled, and the reason is reported', async () => {
    const { run, asked } = play({
      'tools/call': [{ task: task('working') }],
      'tasks/get': [new Error('there was no answer')],
    });
    await assert.rejects(run(), { message: 'there was no answer' });
    assert.deepEqual(methods(asked), ['tools/call', 'tasks/get', 'tasks/cancel']);
  });

  it('that does not end is cancelled after a day', async () => {
    const working = task('working', { pollInterval: 30_000 });
    const { run, asked, waited } = play({
      'tools/call': [{ task: working }],
      'tasks/get': new Array(5000).fill(working),
    });
    await assert.rejects(run(), { message: 'its task did not end within a day' });
    assert.equal(waited.length, 2881);
    assert.equal(methods(asked).at(-1), 'tasks/cancel');
  });

  it('may not even start', async () => {
    const { run } = play({ 'tools/call': [new Error('there is no such tool')] });
    await assert.rejects(run(), { message: 'there is no such tool' });
  });
});

describe('a task that the user cancels', () => {
  const REASON = new Error('The user changed her mind.');

  it('before its start is not started', async () => {
    const { run, asked, abort } = play({});
    abort.abort(REASON);
    await assert.rejects(run(), REASON);
    assert.deepEqual(asked, []);
  });

  it('while it is polled is cancelled on the server', async () => {
    const asked: string[] = [];
    const abort = new AbortController();
    const run = callAsTask(
      async (method) => {
        asked.push(method);
        return { task: task('working') };
      },
      {
        params: {},
        signal: abort.signal,
        wait: (_ms, signal) =>
          new Promise((_, reject) => {
            signal?.addEventListener('abort', () => reject(new Error('no longer')));
            abort.abort(REASON);
          }),
      },
    );
    await assert.rejects(run, REASON);
    assert.deepEqual(asked, ['tools/call', 'tasks/cancel']);
  });

  it('while it requires input is cancelled on the server, which may refuse', async () => {
    const { run, asked, abort, options } = play({
      'tools/call': [{ task: task('input_required') }],
      'tasks/result': [
        (own) => {
          const answer = untilAborted(own);
          abort.abort(REASON);
          return answer;
        },
      ],
      'tasks/cancel': [new Error('It cannot be cancelled.')],
    });
    await assert.rejects(run(), REASON);
    assert.deepEqual(methods(asked), ['tools/call', 'tasks/result', 'tasks/cancel']);
    assert.equal(options.get('tasks/cancel')?.signal, undefined);
  });
});

describe('a task that the server creates', () => {
  const NAME = { method: 'elicitation/create', params: { message: 'Who?' } };
  const asks = (...keys: string[]) =>
    task('input_required', { inputRequests: Object.fromEntries(keys.map((key) => [key, NAME])) });

  it('is polled at its interval until its state has the result', async () => {
    const { follow, asked, waited, told } = play({
      'tasks/get': [
        task('working', { pollIntervalMs: 300, statusMessage: 'Half done' }),
        task('completed', { result: RESULT }),
      ],
    });
    assert.equal(await follow(task('working', { pollIntervalMs: 200 })), RESULT);
    assert.deepEqual(asked, ['tasks/get {"taskId":"id"}', 'tasks/get {"taskId":"id"}']);
    assert.deepEqual(waited, [200, 300]);
    assert.deepEqual(told, [{ message: 'Half done' }]);
  });

  it('gets an answer to each request once, however often its state repeats it', async () => {
    const { follow, asked } = play({
      'tasks/get': [asks('a'), asks('a', 'b'), task('completed', { result: RESULT })],
      'tasks/update': [{}, {}],
    });
    const answered: unknown[] = [];
    const answer: FollowOptions['answer'] = async (method, params) => {
      answered.push([method, params]);
      return { action: 'accept', content: { n: answered.length } };
    };
    assert.equal(await follow(task('working'), answer), RESULT);
    assert.deepEqual(
      answered,
      [NAME, NAME].map(({ method, params }) => [method, params]),
    );
    assert.deepEqual(
      asked.filter((each) => each.startsWith('tasks/update')),
      [
        'tasks/update {"taskId":"id","inputResponses":{"a":{"action":"accept","content":{"n":1}}}}',
        'tasks/update {"taskId":"id","inputResponses":{"b":{"action":"accept","content":{"n":2}}}}',
      ],
    );
  });

  it('that requires what cannot be answered is cancelled', async () => {
    const { follow, asked } = play({ 'tasks/get': [], 'tasks/cancel': [{}] });
    await assert.rejects(
      follow(asks('a'), async () => {
        throw new Error('nobody is here');
      }),
      { message: 'nobody is here' },
    );
    assert.deepEqual(methods(asked), ['tasks/cancel']);
  });

  it('that asks without end is cancelled', async () => {
    const states = Array.from({ length: 200 }, (_, at) => asks(`k${at}`));
    const { follow, asked } = play({ 'tasks/get': states, 'tasks/update': new Array(200).fill({}) });
    await assert.rejects(follow(task('working')), { message: 'its task required input more than 100 times' });
    assert.equal(methods(asked).at(-1), 'tasks/cancel');
  });

  const endings: Readonly<Record<string, readonly [object, string]>> = {
    failed: [{ error: { code: -32603, message: 'disk full' } }, 'its task failed: disk full'],
    cancelled: [{ statusMessage: 'too old' }, 'the server cancelled its task: too old'],
    completed: [{}, 'its task ended without a result'],
  };
  for (const [status, [more, message]] of Object.entries(endings)) {
    it(`that is ${status} with ${JSON.stringify(more)} is reported, and not cancelled`, async () => {
      const { follow, asked } = play({ 'tasks/get': [task(status, more)] });
      await assert.rejects(follow(task('working')), { message });
      assert.deepEqual(methods(asked), ['tasks/get']);
    });
  }

  it('is cancelled on the server when the user stops it', async () => {
    const { follow, asked, abort } = play({ 'tasks/cancel': [{}] });
    const stop = new Error('stopped');
    const answer: FollowOptions['answer'] = async () => {
      abort.abort(stop);
      return {};
    };
    await assert.rejects(follow(asks('a'), answer), stop);
    assert.deepEqual(methods(asked), ['tasks/cancel']);
  });
});

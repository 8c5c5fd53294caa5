import assert from 'node:assert/strict';
import { after, describe, it } from 'node:test';
import { Connections } from '../../../src/mcp/pool/connections.ts';
import type { Elicitation, ElicitationAnswer } from '../../../src/ports/servers.ts';
import { firstText, fromNpm, TIMEOUT_MS } from '../helpers/serving.ts';

const SERVER = 'everything';
const TOOL = 'simulate-research-query';
const ANSWER: ElicitationAnswer = { action: 'accept', content: { interpretation: 'snake' } };

/** The real server, and what it has asked so far. */
function connect() {
  const asked: Elicitation[] = [];
  const ignore = () => {};
  const servers = new Map([[SERVER, fromNpm('@modelcontextprotocol/server-everything', 'stdio')]]);
  const connections = new Connections({
    servers: async () => servers,
    log: { info: ignore, warn: ignore, error: ignore },
    timeoutMs: () => TIMEOUT_MS,
    clientInfo: { name: 'filechat-integration', version: '1' },
    requests: {
      elicit: async (elicitation) => {
        asked.push(elicitation);
        return ANSWER;
      },
    },
  });
  return {
    connections,
    asked,
    call: (tool: string, args: Record<string, unknown>, options = {}) =>
      connections.callTool({ id: 'c1', server: SERVER, tool, arguments: args }, options),
  };
}

describe('the task of server-everything', () => {
  const { connections, asked, call } = connect();
  after(() => connections.dispose());

  it('is known as one from the list', async () => {
    const { tools, failures } = await connections.listTools(SERVER);
    assert.deepEqual(failures, []);
    assert.equal(tools.find(({ tool }) => tool === TOOL)?.task, 'required');
  });

  it('runs to its end, and tells how far it is', async () => {
    const told: (string | undefined)[] = [];
    const onProgress = ({ message }: { readonly message?: string }) => told.push(message);
    const result = await call(TOOL, { topic: 'tides' }, { onProgress });
    assert.match(firstText(result), /^# Research Report: tides\n/);
    // Which of its stages are seen depends on when it is looked after.
    assert.ok(told.length > 0);
    for (const message of told) assert.match(message ?? '', /^[A-Z][a-z]+ [a-z]+\.\.\.$/);
    assert.equal(asked.length, 0);
  });

  it('asks the user in the middle, and goes on with the answer', async () => {
    const result = await call(TOOL, { topic: 'python', ambiguous: true });
    assert.match(firstText(result), /^# Research Report: python \(snake\)\n/);
    assert.equal(asked.length, 1);
    assert.equal(asked[0]?.kind, 'form');
    assert.match(asked[0]?.message ?? '', /"python" could have multiple interpretations/);
  });

  it('ends when it is called off, and the server lives on', async () => {
    const abort = new AbortController();
    const reason = new Error('The user changed her mind.');
    const onProgress = () => abort.abort(reason);
    await assert.rejects(call(TOOL, { topic: 'tides' }, { onProgress, signal: abort.signal }), reason);
    assert.match(firstText(await call('echo', { message: 'still here' })), /still here/);
  });
});

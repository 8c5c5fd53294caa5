/**
 * The client that the conformance suite starts for each scenario: `McpClient` with a fake browser. The last argument
 * is the server's address. The client detects the revision of the protocol.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { FolderAssets } from '../../src/assets/store.ts';
import { RemoteAuthorization } from '../../src/mcp/oauth/authorization.ts';
import { McpClient } from '../../src/mcpClient.ts';
import type { ToolResult } from '../../src/ports/results.ts';
import type { ServerRequests } from '../../src/ports/servers.ts';

const SERVER = 'conformance';
const TIMEOUT_MS = 60_000;

interface ScenarioContext {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[];
}

interface Session {
  readonly client: McpClient;
  readonly context: ScenarioContext;
  call(tool: string, args?: Readonly<Record<string, unknown>>): Promise<ToolResult>;
}

type Scenario = (session: Session) => Promise<void>;

const callTools =
  (...tools: readonly string[]): Scenario =>
  async ({ client, call }) => {
    await list(client);
    for (const tool of tools) await call(tool);
  };

/** All others are about authorization, and need a list and a call. */
const SCENARIOS: Readonly<Record<string, Scenario>> = {
  initialize: async ({ client }) => void (await list(client)),
  'request-metadata': async ({ client }) => void (await list(client)),
  'json-schema-ref-no-deref': async ({ client }) => void (await list(client)),
  tools_call: async ({ client, call }) => {
    await list(client);
    await call('add_numbers', { a: 5, b: 3 });
  },
  'elicitation-sep1034-client-defaults': callTools('test_client_elicitation_defaults'),
  'sse-retry': callTools('test_reconnection'),
  'sep-2322-client-request-state': async ({ client, call }) => {
    await list(client);
    // The unrelated call runs while the other is pending.
    const echoed = call('test_mrtr_echo_state');
    await call('test_mrtr_unrelated');
    await echoed;
    await call('test_mrtr_no_state');
    await call('test_mrtr_no_result_type');
  },
  'http-standard-headers': async (session) => {
    await callTools('test_headers', 'my-hyphenated-tool')(session);
    await readAll(session.client);
  },
  'http-custom-headers': async ({ client, call, context }) => {
    await list(client);
    for (const { name, arguments: args } of context.toolCalls ?? []) await call(name, args);
  },
  // Every listed tool is called, so that the suite detects one that should not be listed.
  'http-invalid-tool-headers': async ({ client, call }) => {
    for (const { tool } of await list(client)) await call(tool, { region: 'us-west1' });
  },
  'json-schema-2020-12-preservation': async ({ client, call }) => {
    const rich = (await list(client)).find(({ tool }) => tool === 'json_schema_2020_12_tool');
    await call('json_schema_echo', { schema: rich?.inputSchema });
  },
  // The authorization server changes after the first call.
  'auth/authorization-server-migration': callTools('test-tool', 'test-tool'),
};

const AUTHORIZED = callTools('test-tool');

async function list(client: McpClient) {
  const { tools, failures } = await client.listTools(SERVER);
  const [failure] = failures;
  if (failure !== undefined) throw new Error(failure.reason);
  return tools;
}

async function readAll(client: McpClient): Promise<void> {
  const { resources } = await client.listResources(SERVER);
  for (const resource of resources) await client.fetchResource(resource, { maxBytes: 1_000_000 });
  const { prompts } = await client.listPrompts(SERVER);
  const assets = new FolderAssets({ folder: tmpdir() }).beginResult();
  for (const { prompt } of prompts) {
    await client.getPrompt({ server: SERVER, prompt, arguments: {} }, { assets });
  }
}

/** A user who accepts everything unchanged. */
const AGREEABLE: ServerRequests = {
  elicit: async ({ kind }) => (kind === 'form' ? { action: 'accept', content: {} } : { action: 'accept' }),
  sample: async () => ({ model: 'none', parts: [{ kind: 'text', text: 'Yes.' }], stopReason: 'endTurn' }),
  roots: async () => [],
};

function authorize(serverUrl: string, context: ScenarioContext): RemoteAuthorization {
  const kept = new Map<string, string>();
  const { client_id: clientId, client_secret: clientSecret } = context;
  return new RemoteAuthorization({
    server: SERVER,
    serverUrl,
    store: {
      get: async (key) => kept.get(key),
      set: async (key, value) => void kept.set(key, value),
      delete: async (key) => void kept.delete(key),
    },
    browser: {
      redirectUrl: async () => 'http://127.0.0.1:3000/callback',
      visit: async (url) => {
        const { headers } = await fetch(url, { redirect: 'manual' });
        return new URL(headers.get('location') ?? '');
      },
    },
    settings: {
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
      ...(clientId === undefined ? {} : { clientId }),
      ...(clientSecret === undefined ? {} : { clientSecret }),
    },
  });
}

async function runScenario(name: string, url: string): Promise<void> {
  const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as ScenarioContext;
  const say = (message: string) => console.error(message);
  const client = new McpClient({
    servers: async () => new Map([[SERVER, { kind: 'http', url, headers: {} }]]),
    log: { info: say, warn: say, error: say },
    timeoutMs: () => TIMEOUT_MS,
    clientInfo: { name: 'filechat-conformance', version: '1.0.0' },
    requests: AGREEABLE,
    authorize: async () => authorize(url, context),
  });
  const folder = await mkdtemp(join(tmpdir(), 'filechat-conformance-'));
  const assets = new FolderAssets({ folder });
  try {
    const call: Session['call'] = (tool, args = {}) =>
      client.callTool({ id: 'c1', server: SERVER, tool, arguments: args }, { assets: assets.beginResult() });
    await (SCENARIOS[name] ?? AUTHORIZED)({ client, context, call });
  } finally {
    await client.dispose();
    await rm(folder, { recursive: true, force: true });
  }
}

const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
try {
  await runScenario(scenario, process.argv.at(-1) ?? '');
} catch (error) {
  // The test reads this: in some scenarios the client must fail.
  console.error(`FAILED ${scenario}: ${(error as Error).message}`);
  process.exitCode = 1;
}

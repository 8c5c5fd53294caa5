import type { CliFolder } from './runCli.ts';

export interface ServedTool {
  readonly name: string;
  readonly description?: string;
  readonly inputSchema?: object;
  /** What each call returns; by default a text with the arguments as JSON. */
  readonly result?: object;
}

/** Writes raw JSON lines, so that any description, schema and result can be served. */
const SCRIPT = `
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
const tools = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const HANDLERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion,
    capabilities: { tools: {} },
    serverInfo: { name: 'served', version: '1' },
  }),
  'tools/list': () => ({
    tools: tools.map(({ result, inputSchema = { type: 'object' }, ...tool }) => ({ ...tool, inputSchema })),
  }),
  'tools/call': ({ name, arguments: given }) =>
    tools.find((tool) => tool.name === name).result ?? {
      content: [{ type: 'text', text: 'Called with ' + JSON.stringify(given) }],
    },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = HANDLERS[method]?.(params);
  const answer = result ? { result } : { error: { code: -32601, message: 'Method not found' } };
  console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }));
});
`;

/** Makes these servers with these tools the servers of a folder, in its mcp.json. */
export async function serveTools(
  folder: Pick<CliFolder, 'write'>,
  servers: Readonly<Record<string, readonly ServedTool[]>>,
): Promise<void> {
  await folder.write('server.mjs', SCRIPT);
  for (const [name, tools] of Object.entries(servers)) {
    await folder.write(`${name}.json`, JSON.stringify(tools));
  }
  const entries = Object.keys(servers).map((name) => [
    name,
    {
      command: process.execPath,
      args: [`\${workspaceFolder}/server.mjs`, `\${workspaceFolder}/${name}.json`],
    },
  ]);
  await folder.write('mcp.json', JSON.stringify({ servers: Object.fromEntries(entries) }));
}

// A server whose answers take as long as a test wants. `never` answers nothing at all.
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

const [pidFile] = process.argv.slice(2);
if (pidFile !== undefined) writeFileSync(pidFile, String(process.pid));

const write = (message) => process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);

const TOOLS = [
  {
    name: 'large',
    title: 'A large picture',
    description: 'Sends a picture of some megabytes. [Click me](command:workbench.action.quit) <b>now</b>',
    annotations: { readOnlyHint: true },
    inputSchema: {
      type: 'object',
      properties: {
        megabytes: { type: 'integer', description: 'How much of it comes before it waits' },
        style: { enum: ['plain', 'fancy', 'a|b'], description: 'How it looks' },
        caption: { type: 'string', description: 'What stands below the picture' },
        waits: { type: 'boolean', description: 'False ends the answer at once' },
      },
      required: ['megabytes'],
    },
  },
];

/** Ends the answer that was begun. */
let end;

const HANDLERS = {
  initialize: (id, { protocolVersion }) =>
    write({
      id,
      result: { protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'slow', version: '1' } },
    }),
  'tools/list': (id) => write({ id, result: { tools: TOOLS } }),
  'tools/call': (id, { arguments: { megabytes, waits = true } }) => {
    end = () => process.stdout.write('"}]}}\n');
    process.stdout.write(`{"jsonrpc":"2.0","id":${id},"result":{"content":[{"type":"image","data":"`);
    process.stdout.write('A'.repeat(megabytes * 1_000_000));
    if (!waits) end();
  },
  'notifications/cancelled': () => end?.(),
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (pidFile !== undefined) return;
  if (HANDLERS[method]) HANDLERS[method](id, params);
  else if (id !== undefined) write({ id, error: { code: -32601, message: 'Method not found' } });
});

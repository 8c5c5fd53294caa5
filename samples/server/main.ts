import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import { serveHttp } from './http.ts';
import { createSampleServer } from './server.ts';

const { values } = parseArgs({ options: { http: { type: 'string' } } });

if (values.http === undefined) {
  await createSampleServer().connect(new StdioServerTransport());
} else {
  const { url } = await serveHttp(Number(values.http));
  console.error(`listening on ${url}`);
}

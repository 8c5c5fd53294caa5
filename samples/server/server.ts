import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { registerResources } from './resources.ts';
import { registerAudioTools } from './tools/audio.ts';
import { registerDataTools } from './tools/data.ts';
import { registerDocumentTools } from './tools/documents.ts';
import { registerImageTools } from './tools/images.ts';
import { registerTourTools } from './tools/tours.ts';
import { registerTroubleTools } from './tools/trouble.ts';

/** A server whose tools return every kind of block, the same each time. */
export function createSampleServer(): McpServer {
  const server = new McpServer(
    { name: 'filechat-sample', title: 'Filechat samples', version: '1.0.0' },
    { instructions: 'Sample tools of Filechat. They need no network and change nothing.' },
  );
  registerTourTools(server);
  registerImageTools(server);
  registerAudioTools(server);
  registerDocumentTools(server);
  registerDataTools(server);
  registerTroubleTools(server);
  registerResources(server);
  return server;
}

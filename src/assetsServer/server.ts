import { McpServer } from '@modelcontextprotocol/server';
import { Follower } from './follower.ts';
import { offerCompletions, offerResources } from './resources.ts';
import { SERVER_NAME, type Shared } from './shared.ts';
import { offerTools } from './tools.ts';

const INSTRUCTIONS =
  'This server has a user’s chats and the files that tools returned in them. Each has a stable address filechat://…. ' +
  'Find them with list_assets and search_chats. read_asset returns images and audio whole, and other files in windows: continue from nextStart. ' +
  'Check size and estimatedTokens before you read a file that is not autoReadSafe. ' +
  'save_asset saves a file beside a chat and returns a link for it; it never changes a chat.';

/** The SDK creates one per connection, and one per request for modern clients over HTTP. */
export function createServer(
  shared: Shared,
  era: 'legacy' | 'modern',
): { readonly server: McpServer; readonly follower: Follower } {
  const server = new McpServer(
    { name: SERVER_NAME, title: 'Filechat: chats and their files', version: shared.version },
    { instructions: INSTRUCTIONS },
  );
  const follower = new Follower(server, shared, era);
  offerTools(server, shared);
  offerResources(server, shared, follower);
  offerCompletions(server, shared);
  // Legacy clients receive notifications without a subscription.
  server.server.oninitialized = () => void follower.start();
  server.server.onclose = () => follower.dispose();
  return { server, follower };
}

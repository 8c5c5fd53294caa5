import { McpServer } from '@modelcontextprotocol/server';
import { Follower } from './follower.ts';
import { offerCompletions, offerResources } from './resources.ts';
import type { Shared } from './shared.ts';
import { offerTools } from './tools.ts';

const INSTRUCTIONS =
  'This server has somebody’s chats and the files that tools returned in them, each with an address filechat://… that stays good. ' +
  'Find them with list_assets and search_chats, and look at size and estimatedTokens before you read: what is not autoReadSafe is better read in windows with read_asset, from nextStart to nextStart. ' +
  'save_asset puts a file beside a chat and gives the link for it; it never changes what a chat says.';

/** The SDK creates one per connection, and one per request for modern clients over HTTP. */
export function createServer(
  shared: Shared,
  era: 'legacy' | 'modern',
): { readonly server: McpServer; readonly follower: Follower } {
  const server = new McpServer(
    { name: 'filechat-assets', title: 'Filechat: chats and their files', version: shared.version },
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

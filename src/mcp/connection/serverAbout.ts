import type { Client } from '@modelcontextprotocol/client';
import type { ServerAbout, ServerOffers } from '../../ports.ts';
import { pickIcon } from '../lists/icons.ts';
import { oneLine } from './failure.ts';

/** What a server that was greeted says about itself. */
export function aboutServer(client: Client): ServerAbout {
  const { name, version, title, icons } = client.getServerVersion() ?? { name: '', version: '' };
  const instructions = client.getInstructions();
  const icon = pickIcon(icons);
  return {
    name: oneLine(name),
    version: oneLine(version),
    protocol: client.getNegotiatedProtocolVersion() ?? '',
    offers: offersOf(client),
    ...(title === undefined ? {} : { title: oneLine(title) }),
    ...(instructions === undefined ? {} : { instructions }),
    ...(icon === undefined ? {} : { icon }),
  };
}

export function offersOf(client: Client): ServerOffers {
  const { tools, resources, prompts, completions, logging } = client.getServerCapabilities() ?? {};
  return {
    tools: tools !== undefined,
    resources: resources !== undefined,
    subscriptions: resources?.subscribe === true,
    prompts: prompts !== undefined,
    completions: completions !== undefined,
    logging: logging !== undefined,
  };
}

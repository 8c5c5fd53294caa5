import type { Address } from './types.ts';

/** The templates that servers announce. */
export const ASSET_TEMPLATE = 'filechat://{chat}/{asset}';
export const CHAT_TEMPLATE = 'filechat://{chat}';

/** As the templates are expanded: everything but letters, digits and `-._~` behind percent signs. */
export function addressUri(_address: Address): string {
  throw new Error('to be built');
}

/** What an address names, or why it names nothing. Looks at no disk and never throws. */
export function readAddress(_uri: string): ReadAddress {
  throw new Error('to be built');
}

export type ReadAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly reason: string };

import { messageOf } from '../../base/errors.ts';
import { field, isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import type { ResourceContents, ResourceList, ResourceName, ServerHost } from '../../ports/servers.ts';

import { nameFromUri } from '../../result/blocks.ts';

/** The type of a page that a tool shows itself with, and how a server is told that we can show it. */
export const APP_TYPE = 'text/html;profile=mcp-app';
export const APPS_EXTENSION = { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_TYPE] } };

export const MAX_APP_BYTES = 5 * 1024 * 1024;
const MAX_DOMAINS = 50;
const MAX_URI_CHARS = 2_000;

/** What a tool's definition says about apps, in the words of `ToolInfo`. */
export interface ToolApp {
  /** The `ui://` resource that shows its results. */
  readonly app?: string;
  readonly forAppsOnly?: true;
  /** A model may call it, and an app must not. */
  readonly notForApps?: true;
}

export function readToolApp(definition: unknown): ToolApp {
  const meta = field(definition, '_meta');
  const ui = field(meta, 'ui');
  const uri = field(ui, 'resourceUri') ?? field(meta, 'ui/resourceUri');
  const visibility = field(ui, 'visibility');
  const hiddenFrom = (who: string) => Array.isArray(visibility) && !visibility.includes(who);
  return {
    ...(isAppUri(uri) ? { app: uri } : {}),
    ...(hiddenFrom('model') ? { forAppsOnly: true } : {}),
    ...(hiddenFrom('app') ? { notForApps: true } : {}),
  };
}

function isAppUri(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= MAX_URI_CHARS && /^ui:\/\/\S+$/.test(uri);
}

/** The addresses that an app may reach. Every one has been looked at. */
export interface AppCsp {
  readonly connectDomains: readonly string[];
  readonly resourceDomains: readonly string[];
  readonly frameDomains: readonly string[];
  readonly baseUriDomains: readonly string[];
}

export interface McpApp {
  readonly html: string;
  readonly csp: AppCsp;
  /** Of all that an app may wish for, only this is granted: it needs a click of the user's each time. */
  readonly permissions: { readonly clipboardWrite?: true };
  readonly prefersBorder?: boolean;
  /** What the app asked for in vain, a sentence each. */
  readonly notices: readonly string[];
}

export interface ReadAppOptions {
  /** What the server's list of resources says about it, for a resource that says nothing itself. */
  readonly listed?: unknown;
  /**
   * The server runs on this machine: started by us, or reached on loopback. Its app may then reach loopback too,
   * which the server can do anyway. Whoever is elsewhere must not get at the services of this machine.
   */
  readonly local?: boolean;
}

/** `meta` is the `_meta` of the item, as the server sent it. */
export type AppContents = ResourceContents & { readonly meta?: unknown };

/** What `resources/read` gave for an app. */
export function readAppResource(
  contents: readonly AppContents[],
  options: ReadAppOptions = {},
): McpApp | { readonly problem: string } {
  const item = contents.find(({ mimeType }) => isAppType(mimeType));
  if (!item) return { problem: `The server sent no page of the type ${APP_TYPE}.` };
  const html = textOf(item.data);
  if (html === undefined) return { problem: 'The page of the app is not UTF-8 text.' };
  if (Buffer.byteLength(html) > MAX_APP_BYTES) {
    return { problem: `The page of the app is larger than ${describeSize(MAX_APP_BYTES)}.` };
  }
  const ui = field(item.meta, 'ui') ?? field(options.listed, 'ui');
  const { csp, notices } = readCsp(field(ui, 'csp'), options.local === true);
  const wishes = field(ui, 'permissions');
  const prefersBorder = field(ui, 'prefersBorder');
  return {
    html,
    csp,
    permissions: isObject(field(wishes, 'clipboardWrite')) ? { clipboardWrite: true } : {},
    ...(typeof prefersBorder === 'boolean' ? { prefersBorder } : {}),
    notices: [
      ...notices,
      ...['camera', 'microphone', 'geolocation']
        .filter((each) => field(wishes, each) !== undefined)
        .map((each) => `It asked for the ${each}, which no app gets.`),
    ],
  };
}

function isAppType(type: string | undefined): boolean {
  return type?.toLowerCase().replace(/\s|"/g, '') === APP_TYPE;
}

function textOf(data: string | Uint8Array): string | undefined {
  if (typeof data === 'string') return data;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(data);
  } catch {
    return undefined;
  }
}

const DOMAIN_LISTS = ['connectDomains', 'resourceDomains', 'frameDomains', 'baseUriDomains'] as const;

function readCsp(declared: unknown, local: boolean): { csp: AppCsp; notices: readonly string[] } {
  const notices: string[] = [];
  const read = (list: (typeof DOMAIN_LISTS)[number]): readonly string[] => {
    const entries = field(declared, list);
    if (!Array.isArray(entries)) return [];
    if (entries.length > MAX_DOMAINS) notices.push(`Of its ${list} only the first ${MAX_DOMAINS} count.`);
    const schemes = list === 'connectDomains' ? ['https', 'wss'] : ['https'];
    return entries.slice(0, MAX_DOMAINS).flatMap((entry: unknown) => {
      const origin = readOrigin(entry, schemes, local);
      if (origin === undefined) notices.push(`It may not reach ${quoted(entry)} (${list}).`);
      return origin === undefined ? [] : [origin];
    });
  };
  const [connectDomains, resourceDomains, frameDomains, baseUriDomains] = DOMAIN_LISTS.map(read);
  const csp = {
    connectDomains: connectDomains ?? [],
    resourceDomains: resourceDomains ?? [],
    frameDomains: frameDomains ?? [],
    baseUriDomains: baseUriDomains ?? [],
  };
  return { csp, notices };
}

const ORIGIN = /^([a-z]+):\/\/(\*\.)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9-]+)(:\d{1,5})?\/?$/;
const LOOPBACK = /^(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?\/?$/;
/** Names that lead nowhere but into the user's own network. */
const NEARBY = /(?:^|\.)(?:localhost|local|internal|lan|home|arpa)$/;

/**
 * An origin with nothing around it, or all subdomains of one. A policy is divided by spaces and semicolons, so
 * whatever is not letters, digits, dots and dashes is refused and never escaped. Numbers are refused as well: they
 * name machines of the user's network, and no public service has a certificate for one.
 */
function readOrigin(entry: unknown, schemes: readonly string[], local: boolean): string | undefined {
  if (typeof entry !== 'string') return undefined;
  const text = entry.toLowerCase();
  if (local && LOOPBACK.test(text)) {
    const web = text.startsWith('http') || schemes.includes('wss');
    return web ? text.replace(/\/$/, '') : undefined;
  }
  const [, scheme = '', wildcard = '', host = '', port = ''] = ORIGIN.exec(text) ?? [];
  const isName = /\.[a-z][a-z0-9-]*$/.test(host) && !NEARBY.test(host);
  return schemes.includes(scheme) && isName ? `${scheme}://${wildcard}${host}${port}` : undefined;
}

/**
 * The policy of an app: nothing but what it declared. Scripts and styles stand in the page itself, so these may be
 * inline. A frame without an address of its own obeys the policy of the page around it as well, so that page has
 * the same policy, and `ownScripts` is what only that page needs.
 */
export function policyOf(csp: AppCsp, ownScripts: readonly string[] = []): string {
  const list = (...sources: readonly string[]) => (sources.length === 0 ? "'none'" : sources.join(' '));
  const { connectDomains, resourceDomains, frameDomains, baseUriDomains } = csp;
  const directives: readonly (readonly [string, string])[] = [
    ['default-src', "'none'"],
    ['script-src', list("'unsafe-inline'", ...ownScripts, ...resourceDomains)],
    ['style-src', list("'unsafe-inline'", ...resourceDomains)],
    ['img-src', list('data:', 'blob:', ...resourceDomains)],
    ['font-src', list('data:', ...resourceDomains)],
    ['media-src', list('data:', 'blob:', ...resourceDomains)],
    ['connect-src', list(...connectDomains)],
    ['frame-src', list(...frameDomains)],
    ['base-uri', list(...baseUriDomains)],
    // These do not follow default-src: without them a form could send what it holds anywhere.
    ['form-action', "'none'"],
    ['object-src', "'none'"],
  ];
  return directives.map((each) => each.join(' ')).join('; ');
}

/**
 * The page with its policy before everything else. A policy in a page counts only for what comes after it, and
 * nothing that the app writes can come before: its own doctype, `<html>` and `<head>` are taken as repetitions.
 */
export function withPolicy(html: string, csp: AppCsp): string {
  const policy = policyOf(csp).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const head = `<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`;
  // Looking up a name before it is needed is a request too, and no policy is about it.
  const quiet = '<meta http-equiv="x-dns-prefetch-control" content="off">';
  // A byte order mark would be text, and text ends the head.
  return `${head}${quiet}${html.replace(/^\uFEFF+/, '')}`;
}

/** The content block that keeps an app beside the result that it shows: bytes, so that they become a file. */
export function appBlock(html: string, uri: string): unknown {
  const name = nameFromUri(uri) ?? 'app';
  const file = /\.html?$/i.test(name) ? name : `${name}.html`;
  const blob = Buffer.from(html, 'utf8').toString('base64');
  return {
    type: 'resource',
    resource: { uri: `ui://app/${encodeURIComponent(file)}`, mimeType: 'text/html', blob },
    // The model has the result itself; a page of code would only cost it tokens.
    annotations: { audience: ['user'] },
  };
}

function quoted(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 100);
}

export interface FetchAppOptions {
  /** The server runs on this machine. */
  readonly local?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Gets the page of an app from its server. Never rejects but by the signal: what failed is the problem. */
export async function fetchApp(
  host: Pick<ServerHost, 'fetchResource' | 'listResources'>,
  name: ResourceName,
  { local = false, signal }: FetchAppOptions = {},
): Promise<McpApp | { readonly problem: string }> {
  try {
    const contents: readonly AppContents[] = await host.fetchResource(name, {
      // A page that is only a little too long should be told so by us, in one voice.
      maxBytes: 2 * MAX_APP_BYTES,
      signal,
    });
    const says = contents.some(({ meta }) => field(meta, 'ui') !== undefined);
    const listed = says ? undefined : metaOf(await host.listResources(name.server, signal), name.uri);
    return readAppResource(contents, { local, listed });
  } catch (error) {
    signal?.throwIfAborted();
    return { problem: messageOf(error) };
  }
}

function metaOf({ resources }: ResourceList, uri: string): unknown {
  return field(
    resources.find((each) => each.uri === uri),
    'meta',
  );
}

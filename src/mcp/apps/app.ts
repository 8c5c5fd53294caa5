import { messageOf } from '../../base/errors.ts';
import { field, isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import type { ResourceContents, ResourceName, ServerHost } from '../../ports/servers.ts';
import { nameFromUri } from '../../result/blocks.ts';
import { GUARD, withoutFrames } from './guard.ts';

export const APP_TYPE = 'text/html;profile=mcp-app';
/** The capability that tells servers that apps can be shown. */
export const APPS_EXTENSION = { 'io.modelcontextprotocol/ui': { mimeTypes: [APP_TYPE] } };

export const MAX_APP_BYTES = 5 * 1024 * 1024;
const MAX_DOMAINS = 50;
const MAX_URI_CHARS = 2_000;

/** The app-related fields of a tool, as in `ToolInfo`. */
export interface ToolApp {
  readonly app?: string;
  readonly forAppsOnly?: true;
  readonly notForApps?: true;
}

export function readToolApp(definition: unknown): ToolApp {
  const meta = field(definition, '_meta');
  const ui = field(meta, 'ui');
  const uri = field(ui, 'resourceUri') ?? field(meta, 'ui/resourceUri');
  const visibility = field(ui, 'visibility');
  const hiddenFrom = (audience: string) => Array.isArray(visibility) && !visibility.includes(audience);
  return {
    ...(isAppUri(uri) ? { app: uri } : {}),
    ...(hiddenFrom('model') ? { forAppsOnly: true } : {}),
    ...(hiddenFrom('app') ? { notForApps: true } : {}),
  };
}

function isAppUri(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= MAX_URI_CHARS && /^ui:\/\/\S+$/.test(uri);
}

/** The validated origins that an app may use. */
export interface AppCsp {
  readonly connectDomains: readonly string[];
  readonly resourceDomains: readonly string[];
  readonly baseUriDomains: readonly string[];
}

export interface McpApp {
  readonly html: string;
  readonly csp: AppCsp;
  /** The only permission that is granted, because each use needs a click. */
  readonly permissions: { readonly clipboardWrite?: true };
  readonly prefersBorder?: boolean;
  /** Denied requests, one sentence each. */
  readonly notices: readonly string[];
}

export type AppContents = ResourceContents & { readonly meta?: unknown };

/**
 * Reads the app from the result of `resources/read`. `listed` is the `_meta` of the listed resource, used if the
 * contents have none. The app of a `local` server may use loopback, which the server can reach anyway; apps of remote
 * servers must not reach local services.
 */
export function readAppResource(
  contents: readonly AppContents[],
  { listed, local = false }: { readonly listed?: unknown; readonly local?: boolean } = {},
): McpApp | { readonly problem: string } {
  const item = contents.find(({ mimeType }) => isAppType(mimeType));
  if (!item) return { problem: `The server sent no page of type ${APP_TYPE}.` };
  const html = textOf(item.data);
  if (html === undefined) return { problem: 'The app page is not UTF-8 text.' };
  if (Buffer.byteLength(html) > MAX_APP_BYTES) {
    return { problem: `The app page is larger than ${describeSize(MAX_APP_BYTES)}.` };
  }
  const ui = field(item.meta, 'ui') ?? field(listed, 'ui');
  const { csp, notices } = readCsp(field(ui, 'csp'), local);
  const requested = field(ui, 'permissions');
  const prefersBorder = field(ui, 'prefersBorder');
  return {
    html,
    csp,
    permissions: isObject(field(requested, 'clipboardWrite')) ? { clipboardWrite: true } : {},
    ...(typeof prefersBorder === 'boolean' ? { prefersBorder } : {}),
    notices: [
      ...notices,
      ...['camera', 'microphone', 'geolocation']
        .filter((each) => field(requested, each) !== undefined)
        .map((each) => `It requested the ${each}, which apps cannot use.`),
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

function readCsp(declared: unknown, local: boolean): { csp: AppCsp; notices: readonly string[] } {
  const notices: string[] = [];
  const read = (list: keyof AppCsp): readonly string[] => {
    const entries = field(declared, list);
    if (!Array.isArray(entries)) return [];
    if (entries.length > MAX_DOMAINS) notices.push(`Only the first ${MAX_DOMAINS} of its ${list} are used.`);
    const schemes = list === 'connectDomains' ? ['https', 'wss'] : ['https'];
    return entries.slice(0, MAX_DOMAINS).flatMap((entry: unknown) => {
      const origin = readOrigin(entry, schemes, local);
      if (origin === undefined) notices.push(`It cannot connect to ${quoted(entry)} (${list}).`);
      return origin === undefined ? [] : [origin];
    });
  };
  const csp = {
    connectDomains: read('connectDomains'),
    resourceDomains: read('resourceDomains'),
    baseUriDomains: read('baseUriDomains'),
  };
  // A frame would have a WebRTC of its own, and a page that was not checked.
  if (field(declared, 'frameDomains') !== undefined)
    notices.push('It declares frames, which apps cannot have.');
  return { csp, notices };
}

const ORIGIN = /^([a-z]+):\/\/(\*\.)?((?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)*[a-z0-9-]+)(:\d{1,5})?\/?$/;
const LOOPBACK = /^(?:https?|wss?):\/\/(?:localhost|127\.0\.0\.1)(?::\d{1,5})?\/?$/;
/** Names of the local network. */
const LOCAL_NAME = /(?:^|\.)(?:localhost|local|internal|lan|home|arpa)$/;

/**
 * A bare origin, or a wildcard for its subdomains. Spaces and semicolons separate parts of a policy, so hosts may only
 * contain letters, digits, dots and dashes; nothing is escaped. IP addresses are refused: they are mostly those of
 * the local network.
 */
function readOrigin(entry: unknown, schemes: readonly string[], local: boolean): string | undefined {
  if (typeof entry !== 'string') return undefined;
  const text = entry.toLowerCase();
  if (local && LOOPBACK.test(text)) {
    const web = text.startsWith('http') || schemes.includes('wss');
    return web ? text.replace(/\/$/, '') : undefined;
  }
  const [, scheme = '', wildcard = '', host = '', port = ''] = ORIGIN.exec(text) ?? [];
  const isName = /\.[a-z][a-z0-9-]*$/.test(host) && !LOCAL_NAME.test(host);
  return schemes.includes(scheme) && isName ? `${scheme}://${wildcard}${host}${port}` : undefined;
}

/**
 * The content security policy of an app: only the declared origins, and inline scripts and styles. A frame without a URL
 * also inherits the policy of its parent, so the parent page uses the same policy plus `ownScripts`.
 */
export function policyOf(csp: AppCsp, ownScripts: readonly string[] = []): string {
  const list = (...sources: readonly string[]) => (sources.length === 0 ? "'none'" : sources.join(' '));
  const { connectDomains, resourceDomains, baseUriDomains } = csp;
  const directives: readonly (readonly [string, string])[] = [
    ['default-src', "'none'"],
    ['script-src', list("'unsafe-inline'", ...ownScripts, ...resourceDomains)],
    ['style-src', list("'unsafe-inline'", ...resourceDomains)],
    ['img-src', list('data:', 'blob:', ...resourceDomains)],
    ['font-src', list('data:', ...resourceDomains)],
    ['media-src', list('data:', 'blob:', ...resourceDomains)],
    ['connect-src', list(...connectDomains)],
    ['frame-src', "'none'"],
    ['base-uri', list(...baseUriDomains)],
    // `form-action` does not fall back to default-src: without it a form could send data anywhere.
    ['form-action', "'none'"],
    ['object-src', "'none'"],
    // Not in all browsers yet: see guard.ts.
    ['webrtc', "'block'"],
  ];
  return directives.map((each) => each.join(' ')).join('; ');
}

/**
 * Puts the policy and the guard before the page, because it applies only to what follows it. The doctype, `<html>` and `<head>` of
 * the app are then duplicates, which parsers ignore.
 */
export function withPolicy(html: string, csp: AppCsp): string {
  const policy = policyOf(csp).replaceAll('&', '&amp;').replaceAll('"', '&quot;');
  const head = `<!DOCTYPE html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}">`;
  // A DNS prefetch is a request too, and policies do not cover it.
  const quiet = '<meta http-equiv="x-dns-prefetch-control" content="off">';
  // A byte order mark would be text, which ends the head.
  return `${head}${quiet}${GUARD}${withoutFrames(html.replace(/^\uFEFF+/, ''))}`;
}

/** The content block that saves the app with the result. It contains bytes, so that it becomes a file. */
export function appBlock(html: string, uri: string): unknown {
  const name = nameFromUri(uri) ?? 'app';
  const file = /\.html?$/i.test(name) ? name : `${name}.html`;
  const blob = Buffer.from(html, 'utf8').toString('base64');
  return {
    type: 'resource',
    resource: { uri: `ui://app/${encodeURIComponent(file)}`, mimeType: 'text/html', blob },
    // The model has the result; the page would only cost tokens.
    annotations: { audience: ['user'] },
  };
}

function quoted(value: unknown): string {
  return String(JSON.stringify(value)).slice(0, 100);
}

/** Fetches the app from its server. Rejects only when aborted; failures are returned as `problem`. */
export async function fetchApp(
  host: Pick<ServerHost, 'fetchResource' | 'listResources'>,
  name: ResourceName,
  { local = false, signal }: { readonly local?: boolean; readonly signal?: AbortSignal | undefined } = {},
): Promise<McpApp | { readonly problem: string }> {
  try {
    const contents: readonly AppContents[] = await host.fetchResource(name, {
      // A page that is slightly too large is rejected by `readAppResource`, with a clear message.
      maxBytes: 2 * MAX_APP_BYTES,
      signal,
    });
    const hasMeta = contents.some(({ meta }) => field(meta, 'ui') !== undefined);
    const { resources } = hasMeta ? { resources: [] } : await host.listResources(name.server, signal);
    const listed = field(
      resources.find(({ uri }) => uri === name.uri),
      'meta',
    );
    return readAppResource(contents, { local, listed });
  } catch (error) {
    signal?.throwIfAborted();
    return { problem: messageOf(error) };
  }
}

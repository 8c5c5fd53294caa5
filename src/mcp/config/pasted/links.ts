import { decodePercent } from '../../../chat/format/escapeMarkers.ts';
import { PasteError, type RawServers } from './types.ts';

const SCHEMES = /^(?:vscode|vscode-insiders|vscodium|cursor|lmstudio):/i;

type ReadJson = (text: string) => RawServers;

/** Whether a word is an install link, or a page that opens one. */
export function isInstallLink(word: string): boolean {
  if (SCHEMES.test(word)) return true;
  if (!/^https?:/i.test(word) || !URL.canParse(word)) return false;
  const { hostname, pathname } = new URL(word);
  const path = decodePercent(pathname);
  return (
    (/(?:^|\.)vscode\.dev$/.test(hostname) && path.startsWith('/redirect')) ||
    (/(?:^|\.)cursor\.com$/.test(hostname) && /install-mcp|mcp\/install/.test(path))
  );
}

/** Reads `vscode:mcp/install?JSON`, `cursor://…/mcp/install?name=…&config=BASE64` and their pages. */
export function readInstallLink(link: string, readJson: ReadJson): RawServers {
  const broken = new PasteError({ kind: 'link', text: link });
  const query = link.slice(link.indexOf('?') + 1);
  if (!link.includes('?') || query === '') throw broken;
  const parameters = new URLSearchParams(query.replaceAll('+', '%2B'));
  const target = parameters.get('url');
  if (target !== null && target !== link && SCHEMES.test(target)) return readInstallLink(target, readJson);
  const config = parameters.get('config');
  const json = config === null ? decodePercent(query) : decodeConfig(config);
  if (json === undefined) throw broken;
  const { servers, inputs = [] } = readJson(json);
  const more = parameters.get('inputs');
  const name = parameters.get('name');
  return {
    servers: servers.map((server) => (servers.length === 1 && name ? { ...server, name } : server)),
    inputs: more === null ? inputs : [...inputs, ...listOf(more)],
  };
}

/** JSON, or base64 of it. */
function decodeConfig(config: string): string | undefined {
  const text = config.trim();
  if (text.startsWith('{')) return text;
  const decoded = Buffer.from(text.replace(/ /g, '+'), 'base64').toString('utf8');
  return decoded.trim().startsWith('{') ? decoded : undefined;
}

function listOf(json: string): readonly unknown[] {
  try {
    const list: unknown = JSON.parse(json);
    return Array.isArray(list) ? list : [];
  } catch {
    // Inputs without a definition are asked for as secrets.
    return [];
  }
}

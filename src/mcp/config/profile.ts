import { field, isObject, parseJsonWithComments } from '../../base/json.ts';
import { toServerName } from './pasted/names.ts';
import { freeName } from './pasted/normalize.ts';

/**
 * The path of `mcp.json` in VS Code's folder of user data, for the profile of a workspace. `state` is the content of
 * `globalStorage/storage.json`, which is the only place that names the profile.
 */
export function profilePath(state: unknown, workspace: string | undefined): readonly string[] {
  const associations = field(field(state, 'profileAssociations'), 'workspaces');
  const id = workspace === undefined ? undefined : field(associations, workspace);
  const profiles = field(state, 'userDataProfiles');
  const profile = Array.isArray(profiles)
    ? profiles.find((each) => field(each, 'location') === id)
    : undefined;
  const isDefault = !profile || field(field(profile, 'useDefaultFlags'), 'mcp') === true;
  return isDefault || !isSegment(id) ? ['mcp.json'] : ['profiles', id, 'mcp.json'];
}

function isSegment(id: unknown): id is string {
  return typeof id === 'string' && /^[\w-]+$/.test(id);
}

/** Renames the servers of a file whose names a chat cannot write, such as `io.github.name/server`. */
export function withServerNames(text: string): string {
  let json: unknown;
  try {
    json = parseJsonWithComments(text);
  } catch {
    // The reader of the text reports the problem.
    return text;
  }
  const servers = field(json, 'servers');
  if (!isObject(json) || !isObject(servers)) return text;
  const used = new Set<string>();
  const named = Object.entries(servers).map(([name, entry]) => {
    const valid = freeName(toServerName(name) ?? 'server', used);
    used.add(valid);
    return [valid, entry];
  });
  return JSON.stringify({ ...json, servers: Object.fromEntries(named) });
}

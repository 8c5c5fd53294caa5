import * as vscode from 'vscode';
import { BUILT_IN_SERVER } from '../../base/assetNames.ts';
import { field, isObject } from '../../base/json.ts';
import { freeName, inputsFor, nameServer } from '../../mcp/config/pasted/normalize.ts';
import { readPasted, readPastedJson } from '../../mcp/config/pasted/read.ts';
import type { Pasted, PastedServer } from '../../mcp/config/pasted/types.ts';
import { describeEntry, extractSecrets, readEntry, type ServerEntry } from '../../mcp/config/serverEntry.ts';
import { userServers } from '../settings.ts';
import { EDITOR_SERVER } from '../tools/editorTools.ts';
import { type Fields, readFields, readObject, readString } from '../ui/commandArguments.ts';
import { askForName, askForReview, askForText } from './addPages.ts';
import { describePasteProblem } from './addWords.ts';
import { USER_PLACE } from './configuredServers.ts';
import type { ServerInputs } from './inputs.ts';
import { writeServer } from './places.ts';
import { type ReviewedServer, type ReviewPlace, reviewRows } from './reviewRows.ts';
import type { ServerList } from './serverList.ts';

interface AddDeps {
  readonly inputs: ServerInputs;
  readonly list: Pick<ServerList, 'all' | 'allow' | 'unusedProfileServers'>;
  /** Called with the name of a server before it is written. */
  readonly onAdd?: (name: string) => void;
}

type Found = Extract<Pasted, { kind: 'servers' }>;

/** A server on its way. `name` is undefined until the user gives one. */
interface Candidate extends Omit<PastedServer, 'name'> {
  readonly name: string | undefined;
  /** Whether it may replace a server of its name. */
  readonly mayReplace?: boolean;
}

/**
 * Adds servers after a review that shows their whole configuration. Without an argument, asks for anything that names
 * a server. Resolves to the names of the added servers.
 */
export async function addServer(deps: AddDeps, argument?: unknown): Promise<readonly string[]> {
  const given = readArgument(argument);
  for (let text = ''; ; ) {
    const asked = given ?? (await askForText(text, await deps.list.unusedProfileServers()));
    if (asked === undefined) return [];
    if ('text' in asked) text = asked.text;
    const found = 'text' in asked ? foundIn(readPasted(asked.text)) : asked;
    const added = await review(deps, found, given === undefined);
    if (added !== 'back') return added;
  }
}

type Given = Omit<Found, 'servers'> & { readonly servers: readonly Candidate[] };

/** `{ name, config }`, or text or JSON of any form that the box takes. Throws if it is invalid. */
function readArgument(argument: unknown): Given | undefined {
  if (argument === undefined || argument === null) return undefined;
  if (typeof argument === 'string') return foundIn(readPasted(argument));
  const fields: Fields = Array.isArray(argument) ? {} : readFields(argument);
  if (!Array.isArray(argument) && Object.keys(fields).length === 0) return undefined;
  const name = (fields['command'] ?? fields['url']) ? undefined : readString(fields, 'name');
  const entry = readObject(fields, 'config');
  if ((name === undefined) !== (entry === undefined)) {
    throw new TypeError(vscode.l10n.t('Pass both “name” and “config”, or neither of them.'));
  }
  if (name === undefined || entry === undefined) return foundIn(readPastedJson(argument));
  readEntry({ name, entry });
  const server: Candidate = { name, entry, ignored: [], mayReplace: true };
  return { kind: 'servers', servers: [server], inputs: [], problems: [], isForWorkspace: false };
}

function foundIn(pasted: Pasted): Found {
  if (pasted.kind === 'problem') throw new TypeError(describePasteProblem(pasted.problem));
  return pasted;
}

/** Shows what would be added until the user adds it, goes back or cancels. */
async function review(deps: AddDeps, found: Given, canGoBack: boolean): Promise<readonly string[] | 'back'> {
  const taken = await takenNames(deps.list);
  let candidates: readonly Candidate[] = withFreeNames(found.servers, taken);
  const places = placesFor(found);
  for (;;) {
    const unnamed = candidates.find(({ name }) => name === undefined);
    const others = () => new Set([...taken, ...candidates.flatMap(({ name = '' }) => name)]);
    if (unnamed) {
      const name = await askForName(unnamed, others());
      if (typeof name !== 'string') return name?.kind === 'back' && canGoBack ? 'back' : [];
      candidates = replace(candidates, unnamed, name);
      continue;
    }
    const servers = candidates.map(reviewed);
    const action = await askForReview(reviewRows(servers, places, found.problems), servers, canGoBack);
    if (action === undefined) return [];
    if (action === 'back') return 'back';
    if (action.kind === 'add') return save(deps, servers, { place: action.place, inputs: found.inputs });
    const chosen = candidates.find(({ name }) => name === action.name);
    if (!chosen) continue;
    if (action.kind === 'leaveOut') candidates = candidates.filter((each) => each !== chosen);
    const name = action.kind === 'rename' ? await askForName(chosen, others()) : undefined;
    if (typeof name === 'string') candidates = replace(candidates, chosen, name);
  }
}

function replace(all: readonly Candidate[], one: Candidate, name: string): readonly Candidate[] {
  return all.map((each) => (each === one ? { ...each, name, mayReplace: false } : each));
}

/** Also the names of servers that are disabled, invalid, or ours. */
async function takenNames(list: AddDeps['list']): Promise<ReadonlySet<string>> {
  const listed = (await list.all()).filter(({ source }) => source !== 'sample').map(({ name }) => name);
  const own = userServers();
  const configured = isObject(own) ? Object.keys(own) : [];
  return new Set([...listed, ...configured, BUILT_IN_SERVER, EDITOR_SERVER]);
}

function withFreeNames(servers: readonly Candidate[], taken: ReadonlySet<string>): readonly Candidate[] {
  const used = new Set(taken);
  return servers.map((server) => {
    const isFixed = server.name === undefined || server.mayReplace;
    const name = isFixed ? server.name : freeName(server.name ?? '', used);
    if (name !== undefined) used.add(name);
    return { ...server, name };
  });
}

function reviewed({ name = '', mayReplace, ignored, entry }: Candidate): ReviewedServer {
  const old = mayReplace ? (field(userServers(), name) as ServerEntry | undefined) : undefined;
  // An entry of the argument is in our own form already.
  const server = mayReplace ? { name, entry } : nameServer(name, { entry });
  const replaces = old && describeEntry({ name, entry: old });
  return { name, ...extractSecrets(name, server.entry), ignored, replaces };
}

function placesFor({ isForWorkspace, servers }: Given): readonly ReviewPlace[] {
  const folders = servers.some(({ mayReplace }) => mayReplace)
    ? []
    : (vscode.workspace.workspaceFolders ?? []);
  const inFolders = folders.map(({ uri, name }) => ({ id: uri.toString(), folder: name }));
  const own = { id: USER_PLACE };
  return isForWorkspace ? [...inFolders, own] : [own, ...inFolders];
}

async function save(
  { inputs, list, onAdd }: AddDeps,
  servers: readonly ReviewedServer[],
  { place, inputs: definitions }: { readonly place: string; readonly inputs: readonly unknown[] },
): Promise<readonly string[]> {
  for (const { name, entry, secrets } of servers) {
    // Stored first, so that the server never starts without its secrets.
    for (const [id, value] of secrets) await inputs.set(place, id, value);
    onAdd?.(name);
    const own = [...secrets.keys()].map((id) => ({
      id,
      type: 'promptString',
      description: id,
      password: true,
    }));
    await writeServer(place, { name, entry, inputs: [...inputsFor({ name, entry }, definitions), ...own] });
    if (place !== USER_PLACE) await list.allow(name);
  }
  return servers.map(({ name }) => name);
}

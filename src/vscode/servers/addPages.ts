import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { nameServer } from '../../mcp/config/pasted/normalize.ts';
import { readPasted, readPastedFile } from '../../mcp/config/pasted/read.ts';
import type { PastedServer } from '../../mcp/config/pasted/types.ts';
import { describeEntry, type ImportSource, importSources } from '../../mcp/config/serverEntry.ts';
import { serverIdProblem } from '../../mcp/config/types.ts';
import { exists, readText } from '../chat/chatFiles.ts';
import { askInput, type Choice, type InputAction, wholeText } from '../ui/askInput.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { describePasted, describePasteProblem } from './addWords.ts';
import type { ConfiguredServer } from './configuredServers.ts';
import { offerProfileServers } from './profile.ts';
import type { ReviewAction, ReviewedServer, ReviewRow } from './reviewRows.ts';

/** Asks for anything that names servers. Resolves to a text that can be read; undefined when the user cancels. */
export async function askForText(
  initial: string,
  profileServers: readonly ConfiguredServer[],
): Promise<{ readonly text: string } | undefined> {
  const box = vscode.window.createInputBox();
  const { fill, draft } = wholeText(box, initial);
  box.title = vscode.l10n.t('Add MCP Server');
  box.placeholder = EXAMPLE;
  const check = () => {
    const pasted = readPasted(draft());
    const isEmpty = draft().trim() === '';
    box.prompt = pasted.kind === 'servers' ? describePasted(pasted) : HOW_TO_ADD;
    return pasted.kind === 'servers' || isEmpty ? undefined : describePasteProblem(pasted.problem);
  };
  check();
  // A text that is being typed is not wrong yet: problems are shown from the first Enter on.
  let isShown = false;
  box.onDidChangeValue(() => {
    const problem = check();
    box.validationMessage = isShown ? problem : undefined;
  });
  const accepted = () => {
    const pasted = readPasted(draft());
    isShown = true;
    box.validationMessage = pasted.kind === 'servers' ? undefined : describePasteProblem(pasted.problem);
    return pasted.kind === 'servers' ? draft() : undefined;
  };
  const actions = [pasteAction, ...importActions(await findImports(), profileServers)];
  const reply = await askInput(Object.assign(box, { accepted, draft, fill }), { canGoBack: false, actions });
  return reply.kind === 'answer' ? { text: reply.text } : undefined;
}

const EXAMPLE = 'npx -y @modelcontextprotocol/server-everything';
const HOW_TO_ADD = vscode.l10n.t(
  'Paste a command line, a URL, JSON with "mcpServers", an install link, or a line such as “claude mcp add …”.',
);

const pasteAction: InputAction = {
  icon: 'clippy',
  tooltip: vscode.l10n.t('Paste from Clipboard'),
  isAnswer: true,
  run: async () => {
    try {
      // Unlike the box, the clipboard still has the line breaks.
      return await vscode.env.clipboard.readText();
    } catch (error) {
      const reason = plainMessage(messageOf(error));
      void vscode.window.showWarningMessage(
        vscode.l10n.t('Could not read the clipboard: {0}. Paste the text with the keyboard.', reason),
      );
      return undefined;
    }
  },
};

/** The configuration files of other MCP clients that exist. Reads none of them. */
async function findImports(): Promise<readonly ImportSource[]> {
  const { platform, env } = process;
  const places = importSources({ platform, home: homedir(), appData: env['APPDATA'] });
  // What cannot be looked at cannot be read either.
  const found = await Promise.all(places.map(({ path }) => exists(vscode.Uri.file(path)).catch(() => false)));
  return places.filter((_place, index) => found[index]);
}

function importActions(
  sources: readonly ImportSource[],
  profileServers: readonly ConfiguredServer[],
): readonly InputAction[] {
  if (sources.length + profileServers.length === 0) return [];
  const tooltip = vscode.l10n.t('Import from Another App…');
  return [
    {
      icon: 'cloud-download',
      tooltip,
      isAnswer: true,
      run: () => chooseImport({ sources, profileServers }, tooltip),
    },
  ];
}

interface Imports {
  readonly sources: readonly ImportSource[];
  readonly profileServers: readonly ConfiguredServer[];
}

/** Resolves to the chosen servers as JSON; undefined if the user cancels, or uses VS Code's servers as they are. */
async function chooseImport(
  { sources, profileServers }: Imports,
  title: string,
): Promise<string | undefined> {
  const live = {
    label: vscode.l10n.t('VS Code: All Servers, Without Copying…'),
    description: profileServers.map(({ name }) => name).join(', '),
    source: undefined,
  };
  const items = [
    ...(profileServers.length > 0 ? [live] : []),
    ...sources.map((source) => ({ label: source.app, description: source.path, source })),
  ];
  const placeHolder = vscode.l10n.t('Select the app with the servers to import');
  const chosen = await vscode.window.showQuickPick(items, { title, placeHolder });
  if (chosen?.source) return chooseImported(chosen.source);
  if (chosen) await offerProfileServers(profileServers);
  return undefined;
}

async function chooseImported({ app, path }: ImportSource): Promise<string | undefined> {
  const pasted = await readText(vscode.Uri.file(path)).then(readPastedFile, messageOf);
  if (typeof pasted === 'string' || pasted.kind === 'problem') {
    const reason = typeof pasted === 'string' ? pasted : describePasteProblem(pasted.problem);
    void vscode.window.showWarningMessage(
      plainMessage(vscode.l10n.t('Nothing to import from {0}. {1}', path, reason)),
    );
    return undefined;
  }
  const items = pasted.servers.map((server) => {
    const name = server.name ?? 'server';
    // The list cuts this line; the review shows the whole entry.
    const detail = describeEntry(nameServer(name, server)).replaceAll('\n', ' · ').replaceAll('$(', '$ (');
    return { label: name, detail, entry: server.entry };
  });
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Import from {0}', app),
    placeHolder:
      pasted.problems.length === 0
        ? vscode.l10n.t('Which servers?')
        : plainMessage(vscode.l10n.t('Which servers? {0}', pasted.problems.join(' '))),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  if (!chosen || chosen.length === 0) return undefined;
  const servers = Object.fromEntries(chosen.map(({ label, entry }) => [label, entry]));
  return JSON.stringify({ mcpServers: servers, inputs: pasted.inputs });
}

/** Asks for the name of a server. Resolves to undefined when the user cancels. */
export async function askForName(
  { name = '', entry }: Pick<PastedServer, 'name' | 'entry'>,
  taken: ReadonlySet<string>,
): Promise<string | { readonly kind: 'back' } | undefined> {
  const box = vscode.window.createInputBox();
  const [first = ''] = describeEntry({ name: name || 'server', entry }).split('\n');
  box.title = vscode.l10n.t('Name of the Server');
  box.value = name;
  box.prompt = plainMessage(vscode.l10n.t('Chats call its tools by this name. Configuration: {0}', first));
  const problem = () => {
    if (box.value === '') return vscode.l10n.t('Enter a name.');
    if (box.value !== name && taken.has(box.value)) {
      return vscode.l10n.t('There is already a server named {0}. Choose another name.', box.value);
    }
    return serverIdProblem(box.value) && vscode.l10n.t('Use only letters, digits, _ and -.');
  };
  box.onDidChangeValue(() => {
    box.validationMessage = box.value === '' ? undefined : problem();
  });
  const accepted = () => {
    box.validationMessage = problem();
    return box.validationMessage === undefined ? box.value : undefined;
  };
  const reply = await askInput(Object.assign(box, { accepted }), { canGoBack: true });
  if (reply.kind === 'answer') return reply.text;
  return reply.kind === 'back' ? { kind: 'back' } : undefined;
}

/** Shows the rows until one with an action is chosen. Resolves to undefined when the user cancels. */
export async function askForReview(
  rows: readonly ReviewRow[],
  servers: readonly ReviewedServer[],
  canGoBack: boolean,
): Promise<ReviewAction | 'back' | undefined> {
  const pick = vscode.window.createQuickPick<Choice>();
  const [server] = servers;
  pick.title =
    servers.length === 1 && server
      ? vscode.l10n.t('Add MCP Server: {0}', server.name)
      : vscode.l10n.t('Add {0} MCP Servers', servers.length);
  pick.placeholder = vscode.l10n.t('Check the configuration, then choose where to save it');
  pick.items = rows.map(({ label, description = '', isTitle, action }, at) => ({
    label,
    description,
    text: action === undefined ? '' : String(at),
    ...(isTitle && { kind: vscode.QuickPickItemKind.Separator }),
  }));
  const accepted = () => pick.activeItems[0]?.text || undefined;
  const reply = await askInput(Object.assign(pick, { accepted }), { canGoBack });
  if (reply.kind === 'answer') return rows[Number(reply.text)]?.action;
  return reply.kind === 'back' ? 'back' : undefined;
}

import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { describeEntry, type NewServer } from '../../mcp/config/entry.ts';
import { type ImportPlace, importPlaces, readImport } from '../../mcp/config/import.ts';
import { plainMessage } from '../ui/plainMessage.ts';

/** The files of other hosts that are there. None of them is read. */
export async function findImports(): Promise<readonly ImportPlace[]> {
  const { platform, env } = process;
  const places = importPlaces({ platform, home: homedir(), appData: env['APPDATA'] });
  const found = await Promise.all(places.map(({ path }) => isThere(vscode.Uri.file(path))));
  return places.filter((_place, at) => found[at]);
}

/** Reads the file, which the user has just chosen, and lets the user choose from what is in it. */
export async function chooseImported({ app, path }: ImportPlace): Promise<readonly NewServer[]> {
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
  const { servers, problems } = readImport(text);
  const found = Object.entries(servers).map(([name, entry]) => ({ name, entry }));
  if (found.length === 0) {
    const reason = problems[0] ?? vscode.l10n.t('There is no MCP server in it.');
    void vscode.window.showWarningMessage(
      plainMessage(vscode.l10n.t('Nothing to import from {0}. {1}', path, reason)),
    );
    return [];
  }
  const items = found.map((server) => ({
    label: server.name,
    // One line, which the list cuts where it ends; the question that follows shows the whole.
    detail: describeEntry(server).replaceAll('\n', ' · ').replaceAll('$(', '$ ('),
    server,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Import from {0}', app),
    placeHolder:
      problems.length === 0
        ? vscode.l10n.t('Which servers?')
        : plainMessage(vscode.l10n.t('Which? {0}', problems.join(' '))),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  return chosen?.map(({ server }) => server) ?? [];
}

async function isThere(file: vscode.Uri): Promise<boolean> {
  return vscode.workspace.fs.stat(file).then(
    () => true,
    () => false,
  );
}

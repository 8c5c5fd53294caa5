import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { describeSize } from '../../base/size.ts';
import { extensionOf } from '../../views/gallery/items.ts';
import { toHtml } from '../../views/preview/html.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { findListed } from './assets.ts';

interface ShownFile {
  readonly uri: vscode.Uri;
  readonly title: string;
  /** For a copy: the title, if it is the name of such a file. */
  readonly fileName: string;
  readonly facts: string;
}

/**
 * Shows an asset that VS Code cannot show, such as a PDF, with ways to open it elsewhere. The system's application is
 * only offered for files of this machine; a browser can download them.
 */
export async function showFilePage(
  uri: vscode.Uri,
  { webview }: vscode.WebviewPanel,
  { globalStorageUri }: vscode.ExtensionContext,
): Promise<void> {
  const file = await describe(uri, globalStorageUri);
  webview.options = { enableScripts: true, localResourceRoots: [vscode.Uri.joinPath(uri, '..')] };
  webview.onDidReceiveMessage((message: unknown) => {
    if (message === 'open') void openOutside(file);
    else if (message === 'save') void saveAs(file);
    else if (message === 'with') void vscode.commands.executeCommand('workbench.action.reopenWithEditor');
  });
  webview.html = filePage(webview, file);
}

async function describe(uri: vscode.Uri, globalStorage: vscode.Uri): Promise<ShownFile> {
  const name = uri.path.replace(/^.*\//, '');
  const asset = await findListed(uri, globalStorage);
  const title = asset?.title ?? name;
  const extension = extensionOf(name);
  const tool = asset?.uses.find((use) => use.tool !== undefined)?.tool;
  const facts = [
    extension.toUpperCase(),
    ...(asset ? [describeSize(asset.bytes)] : []),
    ...(tool === undefined ? [] : [vscode.l10n.t('from {0}', tool)]),
  ];
  const isFileName = extensionOf(title) === extension && !/[\\/:*?"<>|]/.test(title);
  return { uri, title, fileName: isFileName ? title : name, facts: facts.join(' · ') };
}

async function openOutside({ uri, title }: ShownFile): Promise<void> {
  if (await vscode.env.openExternal(uri)) return;
  const words = vscode.l10n.t('No application could open {0}. Save the file and open it from there.', title);
  void vscode.window.showErrorMessage(plainMessage(words));
}

async function saveAs({ uri, title, fileName }: ShownFile): Promise<void> {
  const target = await vscode.window.showSaveDialog({
    title: vscode.l10n.t('Save {0} As', title),
    defaultUri: vscode.Uri.joinPath(uri, '..', '..', fileName),
  });
  if (!target) return;
  try {
    // The dialog has asked whether to replace a file.
    await vscode.workspace.fs.copy(uri, target, { overwrite: true });
    const words = vscode.l10n.t('{0} was saved to {1}.', title, vscode.workspace.asRelativePath(target));
    void vscode.window.showInformationMessage(plainMessage(words));
  } catch (error) {
    const words = vscode.l10n.t('{0} could not be saved: {1}', title, messageOf(error));
    void vscode.window.showErrorMessage(plainMessage(words));
  }
}

function actionsFor({ scheme }: vscode.Uri): readonly (readonly [action: string, text: string])[] {
  const isWeb = vscode.env.uiKind === vscode.UIKind.Web;
  const isHere = !isWeb && vscode.env.remoteName === undefined && scheme === 'file';
  return [
    ...(isHere ? [['open', vscode.l10n.t('Open Externally')] as const] : []),
    ...(isWeb ? [['download', vscode.l10n.t('Download')] as const] : []),
    ['save', vscode.l10n.t('Save As…')],
    ['with', vscode.l10n.t('Open With…')],
  ];
}

function filePage(webview: vscode.Webview, { uri, title, fileName, facts }: ShownFile): string {
  const nonce = randomBytes(16).toString('base64url');
  const policy = `default-src 'none'; connect-src ${webview.cspSource}; style-src 'nonce-${nonce}'; script-src 'nonce-${nonce}'`;
  const buttons = actionsFor(uri).map(
    ([action, text]) => `<button type="button" data-action="${action}">${toHtml(text)}</button>`,
  );
  const source = toHtml(webview.asWebviewUri(uri).toString());
  return `<!DOCTYPE html>
<html lang="${toHtml(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${toHtml(policy)}">
<title>${toHtml(title)}</title>
<style nonce="${nonce}">${STYLE}</style>
</head>
<body>
<main data-source="${source}" data-name="${toHtml(fileName)}">
<h1>${toHtml(title)}</h1>
<p>${toHtml(facts)}</p>
<p>${toHtml(vscode.l10n.t('VS Code cannot show this file.'))}</p>
<div>${buttons.join('')}</div>
</main>
<script nonce="${nonce}">${SCRIPT}</script>
</body>
</html>`;
}

const STYLE = `
body { display: grid; min-height: 90vh; place-items: center; color: var(--vscode-foreground); }
main { max-width: 90vw; text-align: center; }
h1 { margin: 0 0 8px; font-size: 1.5em; font-weight: 500; overflow-wrap: anywhere; }
p { margin: 0 0 8px; color: var(--vscode-descriptionForeground); }
div { display: flex; flex-wrap: wrap; gap: 8px; justify-content: center; margin-top: 16px; }
button { padding: 6px 14px; border: 1px solid var(--vscode-button-border, transparent); border-radius: 4px; background: var(--vscode-button-secondaryBackground); color: var(--vscode-button-secondaryForeground); font: inherit; cursor: pointer; }
button:hover { background: var(--vscode-button-secondaryHoverBackground); }
button:first-child { background: var(--vscode-button-background); color: var(--vscode-button-foreground); }
button:first-child:hover { background: var(--vscode-button-hoverBackground); }
button:focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 2px; }
`;

/** A link in the page would be opened by the editor, so the browser's download starts from one outside of it. */
const SCRIPT = `
const api = acquireVsCodeApi();
const { source, name } = document.querySelector('main').dataset;
document.addEventListener('click', async ({ target }) => {
  const action = target.dataset.action;
  if (action && action !== 'download') api.postMessage(action);
  if (action !== 'download') return;
  const url = URL.createObjectURL(await (await fetch(source)).blob());
  Object.assign(document.createElement('a'), { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60000);
});
`;

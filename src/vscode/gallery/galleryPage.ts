import { randomBytes } from 'node:crypto';
import * as vscode from 'vscode';
import { toHtml } from '../../preview/html.ts';

/** Where the page's own script and style are. */
export function pageRoots(extensionUri: vscode.Uri): readonly vscode.Uri[] {
  return [
    vscode.Uri.joinPath(extensionUri, 'dist', 'gallery'),
    vscode.Uri.joinPath(extensionUri, 'media', 'gallery'),
  ];
}

/** What the tab shows beside its title. */
export function pageIcon(extensionUri: vscode.Uri) {
  const drawing = (name: string) => vscode.Uri.joinPath(extensionUri, 'media', 'gallery', name);
  return { light: drawing('light.svg'), dark: drawing('dark.svg') };
}

/** The page holds nothing of the assets: they come as messages, and are set as text. */
export function galleryPage(webview: vscode.Webview, extensionUri: vscode.Uri): string {
  const nonce = randomBytes(16).toString('base64url');
  const [scripts, styles] = pageRoots(extensionUri).map((root) => webview.asWebviewUri(root));
  const own = webview.cspSource;
  const policy = [
    "default-src 'none'",
    `img-src ${own}`,
    `media-src ${own}`,
    // The page reads sounds to draw them, and the first lines of texts.
    `connect-src ${own}`,
    `style-src ${own}`,
    `script-src 'nonce-${nonce}'`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join('; ');
  return `<!DOCTYPE html>
<html lang="${toHtml(vscode.env.language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${toHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${toHtml(vscode.l10n.t('Assets'))}</title>
<link rel="stylesheet" href="${toHtml(`${styles}/gallery.css`)}">
</head>
<body>
<script nonce="${nonce}" src="${toHtml(`${scripts}/gallery.js`)}"></script>
</body>
</html>`;
}

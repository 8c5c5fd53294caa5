import { type AppCsp, policyOf } from '../../mcp/apps/app.ts';
import { toHtml } from '../../preview/html.ts';

export interface AppPage {
  readonly csp: AppCsp;
  /** The address of media/apps/frame.js, as the webview knows it. */
  readonly script: string;
  /** Where the webview lets its own files come from; a policy takes no whole address of one. */
  readonly scriptSource: string;
  readonly title: string;
  readonly border: boolean;
  /** Another one each time, so that the editor loads the page anew. */
  readonly run: number;
  readonly language: string;
  readonly words: AppWords;
}

/** What the page says, in the user's language. */
export interface AppWords {
  readonly offer: string;
  readonly add: string;
  readonly dismiss: string;
  readonly left: string;
  readonly flood: string;
  readonly tooLong: string;
}

/**
 * The page around an app. It holds nothing of the app's: that comes later, as a message, into a frame of its own.
 * So its policy can be the app's, which the frame inherits, although that allows inline scripts: there are none.
 */
export function appPage(page: AppPage): string {
  const { csp, script, scriptSource, title, border, run, language, words } = page;
  const policy = toHtml(policyOf(csp, [scriptSource]));
  const why = `data-left="${toHtml(words.left)}" data-flood="${toHtml(words.flood)}" data-too-long="${toHtml(words.tooLong)}"`;
  return `<!DOCTYPE html>
<html lang="${toHtml(language)}">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<title>${toHtml(title)}</title>
<style>${STYLE}</style>
</head>
<body data-run="${run}">
<div id="bar" role="status" hidden>${toHtml(words.offer)}
<button id="add">${toHtml(words.add)}</button> <button id="dismiss">${toHtml(words.dismiss)}</button></div>
<p id="notice" role="alert" ${why} hidden></p>
<main id="stage" data-mode="inline"${border ? ' class="border"' : ''}></main>
<script src="${toHtml(script)}"></script>
</body>
</html>`;
}

const STYLE = `
html, body { height: 100%; margin: 0; padding: 0; }
body { display: flex; flex-direction: column; }
#bar, #notice { margin: 0; padding: 6px 12px; }
#bar { background: var(--vscode-editorWidget-background); border-bottom: 1px solid var(--vscode-widget-border); }
#bar[hidden], #notice[hidden] { display: none; }
button { color: var(--vscode-button-foreground); background: var(--vscode-button-background); border: 0; padding: 3px 10px; }
#stage { flex: 1; min-height: 0; overflow: auto; }
#stage.border { border: 1px solid var(--vscode-widget-border); border-radius: 4px; margin: 8px; }
iframe { display: block; border: 0; width: 100%; height: var(--app-height, 100%); }
[data-mode="fullscreen"] iframe { height: 100%; }
`;

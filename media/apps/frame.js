// @ts-check
/**
 * The page around an app. The app runs in a frame without an origin, a storage or a way out; what it says goes to
 * the extension as text, and is judged there. Here it is only counted, so that a flood ends before it gets anywhere.
 */
(() => {
  const MESSAGES_AT_ONCE = 300;
  const MESSAGES_A_SECOND = 100;
  const MAX_MESSAGE_CHARS = 5_000_000;
  /** The words of MCP Apps for the colours and letters of the editor. */
  const VARIABLES = {
    '--color-background-primary': '--vscode-editor-background',
    '--color-background-secondary': '--vscode-editorWidget-background',
    '--color-background-tertiary': '--vscode-sideBar-background',
    '--color-background-inverse': '--vscode-editor-foreground',
    '--color-background-info': '--vscode-inputValidation-infoBackground',
    '--color-background-warning': '--vscode-inputValidation-warningBackground',
    '--color-background-danger': '--vscode-inputValidation-errorBackground',
    '--color-text-primary': '--vscode-editor-foreground',
    '--color-text-secondary': '--vscode-descriptionForeground',
    '--color-text-inverse': '--vscode-editor-background',
    '--color-text-disabled': '--vscode-disabledForeground',
    '--color-text-info': '--vscode-textLink-foreground',
    '--color-text-warning': '--vscode-editorWarning-foreground',
    '--color-text-danger': '--vscode-errorForeground',
    '--color-border-primary': '--vscode-panel-border',
    '--color-border-secondary': '--vscode-widget-border',
    '--color-ring-primary': '--vscode-focusBorder',
    '--font-sans': '--vscode-font-family',
    '--font-mono': '--vscode-editor-font-family',
  };
  const host = acquireVsCodeApi();
  const stage = element('stage');
  const bar = element('bar');
  const notice = element('notice');
  /** @type {HTMLIFrameElement | undefined} */
  let app;
  /** @type {MessageEventSource | null | undefined} */
  let editor;
  let budget = MESSAGES_AT_ONCE;
  let countedAt = performance.now();

  window.addEventListener('message', (event) => {
    if (app && event.source === app.contentWindow) hearApp(event.data);
    else if (event.origin === window.origin) {
      // The first to speak is the editor, because there is no app before it says so. Nobody else has its place.
      editor ??= event.source;
      if (event.source === editor) hearHost(event.data);
    }
  });
  element('add').addEventListener('click', () => {
    bar.hidden = true;
    host.postMessage({ kind: 'addContext' });
  });
  element('dismiss').addEventListener('click', () => {
    bar.hidden = true;
  });
  new ResizeObserver(tellView).observe(document.documentElement);
  // The editor writes its colours into the style of the root element.
  new MutationObserver(tellView).observe(document.documentElement, { attributeFilter: ['style', 'class'] });
  host.postMessage({ kind: 'ready', view: view() });

  /** @param {{ kind: string, html: string, allow: string, message: unknown, height: number, mode: string, reason: string }} told */
  function hearHost(told) {
    if (told.kind === 'start') start(told.html, told.allow);
    else if (told.kind === 'message') app?.contentWindow?.postMessage(told.message, '*');
    else if (told.kind === 'resize') stage.style.setProperty('--app-height', `${told.height}px`);
    else if (told.kind === 'mode') stage.dataset.mode = told.mode;
    else if (told.kind === 'offer') bar.hidden = false;
    else if (told.kind === 'end') end(told.reason);
  }

  /** @param {string} html @param {string} allow */
  function start(html, allow) {
    const frame = document.createElement('iframe');
    frame.setAttribute('sandbox', 'allow-scripts allow-forms');
    frame.setAttribute('allow', allow);
    frame.setAttribute('referrerpolicy', 'no-referrer');
    frame.title = document.title;
    frame.srcdoc = html;
    let loads = 0;
    frame.addEventListener('load', () => {
      loads += 1;
      // Another page in this frame would be an app that nobody has looked at.
      if (loads > 1) stop('left', notice.dataset.left);
    });
    app = frame;
    stage.replaceChildren(frame);
  }

  /** @param {unknown} message */
  function hearApp(message) {
    const now = performance.now();
    budget = Math.min(MESSAGES_AT_ONCE, budget + ((now - countedAt) / 1000) * MESSAGES_A_SECOND);
    countedAt = now;
    budget -= 1;
    if (budget < 0) return stop('flood', notice.dataset.flood);
    const text = asJson(message);
    if (text === undefined) return;
    if (text.length > MAX_MESSAGE_CHARS) return stop('flood', notice.dataset.tooLong);
    host.postMessage({ kind: 'message', text });
  }

  /** @param {unknown} message */
  function asJson(message) {
    try {
      return JSON.stringify(message);
    } catch {
      return undefined;
    }
  }

  /** @param {string} why @param {string | undefined} reason */
  function stop(why, reason) {
    end(reason);
    host.postMessage({ kind: 'stopped', why });
  }

  /** @param {string | undefined} reason */
  function end(reason = '') {
    app = undefined;
    bar.hidden = true;
    stage.replaceChildren();
    notice.textContent = reason;
    notice.hidden = false;
  }

  function tellView() {
    host.postMessage({ kind: 'view', view: view() });
  }

  function view() {
    const style = getComputedStyle(document.documentElement);
    /** @type {Record<string, string>} */
    const variables = {};
    for (const [name, source] of Object.entries(VARIABLES)) {
      const value = style.getPropertyValue(source).trim();
      if (value !== '') variables[name] = value;
    }
    return { width: window.innerWidth, height: window.innerHeight, variables };
  }

  /** @param {string} id @returns {HTMLElement} */
  function element(id) {
    const found = document.getElementById(id);
    if (!found) throw new Error(`There is no ${id}.`);
    return found;
  }
})();

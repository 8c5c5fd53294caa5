const { createHash } = require('node:crypto');
const { rmSync } = require('node:fs');
const { createServer } = require('node:http');
const { flushCompileCache } = require('node:module');
const vscode = require('vscode');

// VS Code limits how often it shows progress by the clock of the machine, which may be set back: see page.ts.
const startedAt = Date.now() - performance.now();
Date.now = () => Math.floor(startedAt + performance.now());

/** Evaluates each posted function with `vscode` and answers with what it resolves to. */
exports.activate = (context) => {
  const socket = socketPath();
  if (!socket) return;
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify(await evaluate(await readBody(request))));
  });
  // A window that was reloaded has left its socket.
  rmSync(socket, { force: true });
  server.listen(socket);
  // The host is killed in the end, and would take what it has compiled with it.
  server.once('request', () => flushCompileCache?.());
  context.subscriptions.push({ dispose: () => server.close() });
};

/** The tests find the socket by the workspace: see bridgeSocket. */
function socketPath() {
  const bridges = process.env.FILECHAT_BRIDGES;
  const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath;
  if (!bridges || !workspace) return undefined;
  const name = createHash('sha256').update(workspace).digest('hex').slice(0, 16);
  return process.platform === 'win32' ? `\\\\.\\pipe\\filechat-${name}` : `${bridges}/${name}.sock`;
}

async function evaluate(body) {
  try {
    const { source, args } = JSON.parse(body);
    // biome-ignore lint/security/noGlobalEval: evaluating is what the bridge is for.
    const posted = globalThis.eval(`(${source})`);
    return { value: await posted(vscode, ...args) };
  } catch (error) {
    return { error: String(error?.stack ?? error) };
  }
}

async function readBody(request) {
  const chunks = await request.toArray();
  return Buffer.concat(chunks).toString();
}

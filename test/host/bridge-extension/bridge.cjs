const { createServer } = require('node:http');
const { flushCompileCache } = require('node:module');
const vscode = require('vscode');

/** Evaluates each posted function with `vscode` and answers with what it resolves to. */
exports.activate = (context) => {
  const socket = process.env.FILECHAT_BRIDGE;
  if (!socket) return;
  const server = createServer(async (request, response) => {
    response.end(JSON.stringify(await evaluate(await readBody(request))));
  });
  server.listen(socket);
  // The host is killed in the end, and would take what it has compiled with it.
  server.once('request', () => flushCompileCache?.());
  context.subscriptions.push({ dispose: () => server.close() });
};

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

const vscode = require('vscode');

/** Registers commands of Filechat that answer “rival”. Throws as the editor does when Filechat has registered one. */
exports.activate = (context) => ({
  take: (...ids) => {
    for (const id of ids) context.subscriptions.push(vscode.commands.registerCommand(id, () => 'rival'));
  },
});

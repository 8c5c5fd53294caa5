import * as vscode from 'vscode';
import type { ArgumentProblem } from '../../mcp/callArguments/help.ts';
import type { ServerHost } from '../../ports/servers.ts';
import { ChatDiagnostics } from '../chat/problems.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type PendingCall, pendingCallsIn, problemRange, type ToolHelp } from './argumentHelp.ts';

/** Reports arguments of pending calls that do not match the schema. The calls can still run. */
export function watchArguments(help: ToolHelp, servers: Pick<ServerHost, 'onDidChange'>): vscode.Disposable {
  const diagnostics = new ChatDiagnostics('filechat-arguments', async (document) => {
    const found = pendingCallsIn(document).map((pending) => check(document, pending, help));
    return (await Promise.all(found)).flat();
  });
  // A server that has started may have sent new schemas.
  return vscode.Disposable.from(
    diagnostics,
    servers.onDidChange(() => diagnostics.checkAll()),
  );
}

async function check(
  document: vscode.TextDocument,
  pending: PendingCall,
  help: ToolHelp,
): Promise<readonly vscode.Diagnostic[]> {
  const { version } = document;
  const { argumentsText } = pending.call;
  const problems = (await (await help.of(pending.call))?.check(argumentsText)) ?? [];
  if (document.version !== version) return [];
  return problems.map((problem) => {
    const range = problemRange(document, pending, problem);
    const message = plainMessage(describe(problem));
    const diagnostic = new vscode.Diagnostic(range, message, vscode.DiagnosticSeverity.Warning);
    diagnostic.source = 'Filechat';
    return diagnostic;
  });
}

function describe({ kind, subject, message }: ArgumentProblem): string {
  const { t } = vscode.l10n;
  switch (kind) {
    case 'missing':
      return t('The argument “{0}” is missing.', subject);
    case 'unknown':
      return t('The tool has no argument “{0}”.', subject);
    case 'type':
      return t('The tool expects another type here: {0}.', subject);
    case 'syntax':
      return t('The arguments are not valid JSON: {0}', message);
    default:
      return message;
  }
}

import * as vscode from 'vscode';
import { PendingRequestLimit } from '../../mcp/requests/requestLimit.ts';
import type { AskedBy, ServerRequests } from '../../ports/servers.ts';
import type { Audit } from '../../ports/tools.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { audited, FORM_OUTCOMES, type Note } from './audited.ts';
import { askElicitation } from './elicitation.ts';
import { askSampling, type SamplingDeps } from './sampling.ts';

export interface EditorRequestDeps extends Omit<SamplingDeps, 'note'> {
  readonly audit: Audit;
}

const DONE = vscode.l10n.t('Done');
const GIVE_UP = vscode.l10n.t('Give Up');

/** Answers the requests of servers, and records each in the audit log. */
export function editorRequests({ audit, ...deps }: EditorRequestDeps): ServerRequests {
  const limit = new PendingRequestLimit();
  let last: Promise<unknown> = Promise.resolve();
  return {
    elicit: (request, by, signal) => {
      const entry = { kind: 'elicitation', name: request.kind, ...askedBy(by) } as const;
      // One form at a time: a second would close the inputs of the first.
      const ask = () => {
        const asked = last.then(() =>
          signal.aborted ? ({ action: 'cancel' } as const) : askElicitation(request, by, signal),
        );
        last = asked.catch(() => undefined);
        return asked;
      };
      const record = async (note: Note) => {
        const answer = await limit.run(by.server, ask);
        note(FORM_OUTCOMES[answer.action]);
        return answer;
      };
      return audited(audit, entry, record, signal);
    },
    visited: (_request, by, signal) => askWhetherDone(by, signal),
    sample: (request, by, signal) => {
      const entry = { kind: 'sampling', ...askedBy(by) } as const;
      return audited(
        audit,
        entry,
        (note) => limit.run(by.server, () => askSampling(request, by, { ...deps, note }, signal)),
        signal,
      );
    },
    roots: async () =>
      (vscode.workspace.workspaceFolders ?? [])
        .filter(({ uri }) => uri.scheme === 'file')
        .map(({ uri, name }) => ({ uri: uri.toString(), name })),
  };
}

function askedBy({ server, chats }: AskedBy): { readonly server: string; readonly chat: string | undefined } {
  return { server, chat: chats[0] };
}

/** After the notification is dismissed, waits for the server to report that the visit is done. */
async function askWhetherDone({ server }: AskedBy, signal: AbortSignal): Promise<boolean> {
  const question = vscode.l10n.t(
    'Have you done in the browser what the server “{0}” asked for?',
    plainMessage(server),
  );
  const answer = await vscode.window.showInformationMessage(question, DONE, GIVE_UP);
  if (answer === undefined && !signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  return answer === DONE;
}

import * as vscode from 'vscode';
import { PendingRequestLimit } from '../../mcp/requests/requestLimit.ts';
import type { AskedBy, ServerRequests } from '../../ports/requests.ts';
import type { Audit } from '../../ports/tools.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { audited } from './audited.ts';

import { askElicitation } from './elicitation.ts';
import { askSampling, type SamplingParts } from './sampling.ts';

export interface EditorRequestParts extends Omit<SamplingParts, 'agreed'> {
  readonly audit: Audit;
}

const DONE = vscode.l10n.t('Done');
const GIVE_UP = vscode.l10n.t('Give Up');

/** What servers may ask of the person at the editor. Each of it leaves a line in the audit log. */
export function editorRequests({ audit, ...parts }: EditorRequestParts): ServerRequests {
  const limit = new PendingRequestLimit();
  let last: Promise<unknown> = Promise.resolve();
  return {
    elicit: (request, by, signal) => {
      const entry = { kind: 'elicitation', name: request.kind, ...askedBy(by) } as const;
      // One form after the other: a second one would close the inputs of the first.
      const ask = () => {
        const asked = last.then(() =>
          signal.aborted ? ({ action: 'cancel' } as const) : askElicitation(request, by, signal),
        );
        last = asked.catch(() => undefined);
        return asked;
      };
      return audited(audit, entry, () => limit.run(by.server, ask), signal);
    },
    visited: (_request, by, signal) => askWhetherDone(by, signal),
    sample: (request, by, signal) => {
      const entry = { kind: 'sampling', ...askedBy(by) } as const;
      return audited(
        audit,
        entry,
        (agreed) => limit.run(by.server, () => askSampling(request, by, { ...parts, agreed }, signal)),
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

/** Who only closes the notification has not said anything; the server may still say it. */
async function askWhetherDone({ server }: AskedBy, signal: AbortSignal): Promise<boolean> {
  const words = vscode.l10n.t(
    'Have you done in the browser what the server “{0}” asked for?',
    plainMessage(server),
  );
  const answer = await vscode.window.showInformationMessage(words, DONE, GIVE_UP);
  if (answer === undefined && !signal.aborted) {
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  }
  return answer === DONE;
}

import * as vscode from 'vscode';
import { AskLimit } from '../mcp/requests/askLimit.ts';
import type { ServerRequests } from '../ports.ts';
import { askElicitation } from './elicitation.ts';
import { askSampling, type SamplingParts } from './sampling.ts';

/** What servers may ask of the person at the editor. */
export function editorRequests(parts: Omit<SamplingParts, 'always'>): ServerRequests {
  const always = new Set<string>();
  const limit = new AskLimit();
  let last: Promise<unknown> = Promise.resolve();
  return {
    // One form after the other: a second one would close the inputs of the first.
    elicit: (request, by, signal) =>
      limit.run(by.server, () => {
        const asked = last.then(() =>
          signal.aborted ? ({ action: 'cancel' } as const) : askElicitation(request, by, signal),
        );
        last = asked.catch(() => undefined);
        return asked;
      }),
    sample: (request, by, signal) =>
      limit.run(by.server, () => askSampling(request, by, { ...parts, always }, signal)),
    roots: async () =>
      (vscode.workspace.workspaceFolders ?? [])
        .filter(({ uri }) => uri.scheme === 'file')
        .map(({ uri, name }) => ({ uri: uri.toString(), name })),
  };
}

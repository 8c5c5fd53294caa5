import * as vscode from 'vscode';
import type { PromptRequest } from '../../loop/insertions.ts';
import type { PromptInfo, PromptList, ServerHost } from '../../ports/servers.ts';

import { type Answers, askCompleted } from '../ui/completionInput.ts';
import { type PickWords, pickGrowing, type Row } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';

const WORDS: PickWords = {
  title: vscode.l10n.t('Filechat: Insert Prompt'),
  waiting: vscode.l10n.t('Asking the servers for their prompts…'),
  question: vscode.l10n.t('Which prompt?'),
  nothing: vscode.l10n.t('No server has prompts.'),
};

export interface GivenPrompt {
  readonly server?: string | undefined;
  readonly prompt?: string | undefined;
  readonly arguments?: Answers | undefined;
}

/** Which prompt to insert: as the caller says, and the rest as the user picks it. */
export async function pickPrompt(
  host: ServerHost,
  servers: () => Promise<readonly string[]>,
  given: GivenPrompt = {},
): Promise<PromptRequest | undefined> {
  const { server, prompt, arguments: values = {} } = given;
  const named =
    server !== undefined && prompt !== undefined ? { server, prompt, arguments: values } : undefined;
  const list = named && (await askFor(host, named.server));
  if (named && !list) return undefined;
  const info = list
    ? list.prompts.find((each) => each.prompt === prompt)
    : await pickAny(host, server === undefined ? await servers() : [server], prompt);
  // A prompt that nobody knows is told where all such things are told: by the server.
  if (!info || (named && missing(info, values).length === 0)) return named;
  const answers = await askArguments(host, info, values);
  return answers && { server: info.server, prompt: info.prompt, arguments: answers };
}

/** Resolves to nothing when the user calls it off. */
function askFor(host: ServerHost, server: string): Promise<PromptList | undefined> {
  const message = plainMessage(vscode.l10n.t('Asking {0} for its prompts', server));
  return withNotice(message, (signal) => host.listPrompts(server, signal));
}

/** Asks for each argument that is not given yet. Resolves to nothing when the user gives up. */
async function askArguments(
  host: ServerHost,
  info: PromptInfo,
  given: Answers,
): Promise<Answers | undefined> {
  const { server, prompt } = info;
  const asked = info.arguments.filter(({ name }) => !Object.hasOwn(given, name));
  const answers = await askCompleted(
    info.title ?? prompt,
    asked.map((argument) => ({
      ...argument,
      complete: (value, others, signal) =>
        host.complete(
          {
            server,
            of: { kind: 'prompt', prompt },
            argument: argument.name,
            value,
            others: { ...given, ...others },
          },
          signal,
        ),
    })),
  );
  return answers && { ...given, ...answers };
}

function missing({ arguments: all }: PromptInfo, given: Answers): readonly string[] {
  return all.flatMap(({ name, required }) => (required && !Object.hasOwn(given, name) ? [name] : []));
}

function pickAny(
  host: ServerHost,
  servers: readonly string[],
  name: string | undefined,
): Promise<PromptInfo | undefined> {
  return pickGrowing<PromptInfo>(WORDS, (signal) =>
    servers.map(async (server) => rowsOf(server, await host.listPrompts(server, signal), name)),
  );
}

function rowsOf(
  server: string,
  { prompts, failure }: PromptList,
  name: string | undefined,
): readonly Row<PromptInfo>[] {
  const wanted = prompts.filter(({ prompt }) => name === undefined || prompt === name);
  const rows: Row<PromptInfo>[] = wanted.map((info) => ({
    label: `$(comment) ${plainMessage(info.prompt)}`,
    description: plainMessage(info.title ?? ''),
    detail: plainMessage(info.description ?? ''),
    value: info,
  }));
  if (failure !== undefined) {
    rows.push({
      label: `$(warning) ${vscode.l10n.t('This list is not whole')}`,
      detail: plainMessage(failure),
    });
  }
  if (rows.length === 0) return [];
  return [{ label: server, kind: vscode.QuickPickItemKind.Separator }, ...rows];
}

import * as vscode from 'vscode';
import type { PromptRequest } from '../../loop/insertions.ts';
import type { PromptInfo, PromptList, ServerHost } from '../../ports/servers.ts';
import { type Answers, askWithCompletion } from '../ui/completionInput.ts';
import { type PickTexts, pickGrowing, type Row, serverRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';

const TEXTS: PickTexts = {
  title: vscode.l10n.t('Filechat: Insert Prompt'),
  waiting: vscode.l10n.t('Asking the servers for their prompts…'),
  question: vscode.l10n.t('Which prompt?'),
  nothing: vscode.l10n.t('No server has prompts.'),
};

export interface GivenPrompt {
  readonly server: string | undefined;
  readonly prompt: string | undefined;
  readonly arguments: Answers;
}

/** The prompt that the caller names; the user picks what is missing. */
export async function pickPrompt(
  host: ServerHost,
  servers: () => Promise<readonly string[]>,
  { server, prompt, arguments: given }: GivenPrompt,
): Promise<PromptRequest | undefined> {
  if (server === undefined || prompt === undefined) {
    const picked = await pickAny(host, server === undefined ? await servers() : [server], prompt);
    return picked && askArguments(host, picked, given);
  }
  const message = plainMessage(vscode.l10n.t('Asking {0} for its prompts', server));
  const list = await withNotice(message, (signal) => host.listPrompts(server, signal));
  if (!list) return undefined;
  const info = list.prompts.find((each) => each.prompt === prompt);
  // The server reports an unknown prompt.
  if (!info || !isMissingAny(info, given)) return { server, prompt, arguments: given };
  return askArguments(host, info, given);
}

function isMissingAny(info: PromptInfo, given: Answers): boolean {
  return info.arguments.some(({ name, required }) => required && !Object.hasOwn(given, name));
}

/** Asks for the arguments that are not given. Resolves to undefined when the user cancels. */
async function askArguments(
  host: ServerHost,
  info: PromptInfo,
  given: Answers,
): Promise<PromptRequest | undefined> {
  const { server, prompt } = info;
  const missing = info.arguments.filter(({ name }) => !Object.hasOwn(given, name));
  const answers = await askWithCompletion(
    info.title ?? prompt,
    missing.map((argument) => ({
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
  return answers && { server, prompt, arguments: { ...given, ...answers } };
}

function pickAny(
  host: ServerHost,
  servers: readonly string[],
  name: string | undefined,
): Promise<PromptInfo | undefined> {
  return pickGrowing<PromptInfo>(TEXTS, (signal) =>
    servers.map(async (server) => rowsOf(server, await host.listPrompts(server, signal), name)),
  );
}

function rowsOf(
  server: string,
  { prompts, failure }: PromptList,
  name: string | undefined,
): readonly Row<PromptInfo>[] {
  const matches = prompts.filter(({ prompt }) => name === undefined || prompt === name);
  const rows: Row<PromptInfo>[] = matches.map((info) => ({
    label: `$(comment) ${plainMessage(info.prompt)}`,
    description: plainMessage(info.title ?? ''),
    detail: plainMessage(info.description ?? ''),
    value: info,
  }));
  return serverRows(server, rows, failure);
}

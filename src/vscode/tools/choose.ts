import * as vscode from 'vscode';
import { describeSize } from '../../base/size.ts';
import { expandTemplate, readVariables } from '../../base/uriTemplate.ts';
import type { PromptRequest } from '../../loop/insertions.ts';
import type {
  PromptInfo,
  ResourceInfo,
  ResourceName,
  ServerHost,
  TemplateInfo,
} from '../../ports/servers.ts';
import { type Fields, readObject, readString } from '../ui/commandArguments.ts';
import { offerRow, perServer, pickGrowing, type Row, serverRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import { askWithCompletion, type TextAnswers } from '../ui/wizard.ts';

/** The servers to choose from: the one that a command names, or all. */
type AmongServers = () => Promise<readonly string[]>;

/** The prompt that a command names; the user picks what is missing. */
export async function choosePrompt(
  fields: Fields,
  host: ServerHost,
  among: AmongServers,
): Promise<PromptRequest | undefined> {
  const server = readString(fields, 'server');
  const prompt = readString(fields, 'prompt');
  const given = toStrings(readObject(fields, 'arguments') ?? {});
  if (server === undefined || prompt === undefined) {
    const picked = await pickPrompt(host, await among(), prompt);
    return picked && askPromptArguments(host, picked, given);
  }
  const message = vscode.l10n.t('Loading prompts from {0}', server);
  const list = await withNotice(message, (signal) => host.listPrompts(server, signal));
  if (!list) return undefined;
  const info = list.prompts.find((each) => each.prompt === prompt);
  // The server reports an unknown prompt.
  if (!info?.arguments.some(({ name, required }) => required && !Object.hasOwn(given, name))) {
    return { server, prompt, arguments: given };
  }
  return askPromptArguments(host, info, given);
}

/** Arguments of prompts are always strings. */
function toStrings(values: Fields): TextAnswers {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));
}

function pickPrompt(
  host: ServerHost,
  servers: readonly string[],
  name: string | undefined,
): Promise<PromptInfo | undefined> {
  const texts = {
    title: vscode.l10n.t('Filechat: Insert Prompt'),
    waiting: vscode.l10n.t('Loading prompts…'),
    question: vscode.l10n.t('Which prompt?'),
    nothing: vscode.l10n.t('No server has prompts.'),
  };
  return pickGrowing(
    texts,
    perServer(servers, async (server, signal) => {
      const { prompts, failure } = await host.listPrompts(server, signal);
      const matches = prompts.filter(({ prompt }) => name === undefined || prompt === name);
      const rows = matches.map((info) => offerRow('comment', info.prompt, info.title, info));
      return serverRows(server, rows, failure);
    }),
  );
}

async function askPromptArguments(
  host: ServerHost,
  info: PromptInfo,
  given: TextAnswers,
): Promise<PromptRequest | undefined> {
  const { server, prompt } = info;
  const missing = info.arguments.filter(({ name }) => !Object.hasOwn(given, name));
  const questions = missing.map((question) => ({
    ...question,
    complete: (value: string, answers: TextAnswers, signal: AbortSignal) => {
      const others = { ...given, ...answers };
      const of = { kind: 'prompt', prompt } as const;
      return host.complete({ server, of, argument: question.name, value, others }, signal);
    },
  }));
  const answers = await askWithCompletion(info.title ?? prompt, questions);
  return answers && { server, prompt, arguments: { ...given, ...answers } };
}

const RESOURCE_TEXTS = {
  title: vscode.l10n.t('Filechat: Read Resource'),
  waiting: vscode.l10n.t('Loading resources…'),
  question: vscode.l10n.t('Which resource?'),
  nothing: vscode.l10n.t('No server has resources.'),
};

interface ResourceChoice {
  readonly uri: string | undefined;
  readonly among: AmongServers;
  /** Whether to use a template that the server does not list. */
  readonly allowsUnlisted: boolean;
}

/** The resource that a command names; the user picks what is missing. */
export async function chooseResource(
  fields: Fields,
  host: ServerHost,
  { uri, among, allowsUnlisted }: ResourceChoice,
): Promise<ResourceName | undefined> {
  const server = readString(fields, 'server');
  const template = readString(fields, 'template');
  if (server === undefined || template === undefined) return pickResource(host, await among(), uri);
  const message = vscode.l10n.t('Loading resources from {0}', server);
  const list = await withNotice(message, (signal) => host.listResources(server, signal));
  if (!list) return undefined;
  const found = list.templates.find(({ uriTemplate }) => uriTemplate === template);
  if (!found && !allowsUnlisted) {
    throw new Error(vscode.l10n.t('The server no longer has the template {0}.', template));
  }
  return fillTemplate(host, found ?? { server, uriTemplate: template, name: template });
}

async function pickResource(
  host: ServerHost,
  servers: readonly string[],
  uri: string | undefined,
): Promise<ResourceName | undefined> {
  if (uri !== undefined) {
    const placeHolder = vscode.l10n.t('Which server?');
    const { title } = RESOURCE_TEXTS;
    const server =
      servers.length > 1
        ? await vscode.window.showQuickPick([...servers], { title, placeHolder })
        : servers[0];
    return server === undefined ? undefined : { server, uri };
  }
  const picked = await pickGrowing<ResourceInfo | TemplateInfo>(
    RESOURCE_TEXTS,
    perServer(servers, async (server, signal) => {
      const { resources, templates, failure } = await host.listResources(server, signal);
      const rows: Row<ResourceInfo | TemplateInfo>[] = [
        ...resources.map(resourceRow),
        ...templates.map(templateRow),
      ];
      return serverRows(server, rows, failure);
    }),
  );
  if (!picked || 'uriTemplate' in picked) return picked && fillTemplate(host, picked);
  return picked.isLarge && !(await mayReadLarge(picked))
    ? undefined
    : { server: picked.server, uri: picked.uri };
}

/**
 * Shows its size and the server's description, which may say what reading it costs. The Enter that chose the resource
 * may come twice, so the first row reads nothing.
 */
async function mayReadLarge({ name, title, size, description }: ResourceInfo): Promise<boolean> {
  const about = [size === undefined ? undefined : describeSize(size), description];
  const detail = plainMessage(about.filter((each) => each !== undefined).join(' · '));
  const read = { label: vscode.l10n.t('Read'), detail };
  const question = vscode.l10n.t('“{0}” is large. Read it anyway?', plainMessage(title ?? name));
  const picked = await vscode.window.showQuickPick([{ label: vscode.l10n.t('Don’t Read') }, read], {
    title: question,
  });
  return picked === read;
}

function resourceRow(info: ResourceInfo): Row<ResourceInfo> {
  const { uri, name, title, mimeType, size } = info;
  const about = [uri, mimeType, size === undefined ? undefined : describeSize(size)];
  return offerRow('file', title ?? name, about.filter((each) => each !== undefined).join(', '), info);
}

function templateRow(info: TemplateInfo): Row<TemplateInfo> {
  return offerRow('symbol-parameter', info.title ?? info.name, info.uriTemplate, info);
}

async function fillTemplate(
  host: ServerHost,
  { server, uriTemplate, name, title }: TemplateInfo,
): Promise<ResourceName | undefined> {
  const questions = readVariables(uriTemplate).map((variable) => ({
    ...variable,
    description: uriTemplate,
    complete: (value: string, others: TextAnswers, signal: AbortSignal) => {
      const of = { kind: 'template', uriTemplate } as const;
      return host.complete({ server, of, argument: variable.name, value, others }, signal);
    },
  }));
  const answers = await askWithCompletion(title ?? name, questions);
  return answers && { server, uri: expandTemplate(uriTemplate, answers) };
}

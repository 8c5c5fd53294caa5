import * as vscode from 'vscode';
import { describeSize } from '../../base/size.ts';
import { expandTemplate, readVariables } from '../../mcp/lists/uriTemplate.ts';
import type {
  ResourceInfo,
  ResourceList,
  ResourceName,
  ServerHost,
  TemplateInfo,
} from '../../ports/servers.ts';

import { askCompleted } from '../ui/completionInput.ts';
import { type PickWords, pickGrowing, type Row } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';

type Choice =
  | { readonly kind: 'resource'; readonly resource: ResourceName }
  | { readonly kind: 'template'; readonly template: TemplateInfo };

const WORDS: PickWords = {
  title: vscode.l10n.t('Filechat: Read Resource'),
  waiting: vscode.l10n.t('Asking the servers for their resources…'),
  question: vscode.l10n.t('Which resource?'),
  nothing: vscode.l10n.t('No server has resources.'),
};

/** Which resource to read: as the caller says, and the rest as the user picks it. */
export async function pickResource(
  host: ServerHost,
  servers: () => Promise<readonly string[]>,
  given: { readonly server?: string | undefined; readonly uri?: string | undefined } = {},
): Promise<ResourceName | undefined> {
  const { server, uri } = given;
  const among = server === undefined ? await servers() : [server];
  if (uri !== undefined) {
    const chosen = among.length > 1 ? await pickServer(among) : among[0];
    return chosen === undefined ? undefined : { server: chosen, uri };
  }
  const choice = await pickGrowing<Choice>(WORDS, (signal) =>
    among.map(async (each) => rowsOf(each, await host.listResources(each, signal))),
  );
  return choice?.kind === 'template' ? fillTemplate(host, choice.template) : choice?.resource;
}

/** Asks for each blank of a template. Resolves to nothing when the user gives up. */
export async function fillTemplate(
  host: ServerHost,
  { server, uriTemplate, name, title }: TemplateInfo,
): Promise<ResourceName | undefined> {
  const answers = await askCompleted(
    title ?? name,
    readVariables(uriTemplate).map((blank) => ({
      ...blank,
      description: uriTemplate,
      complete: (value, others, signal) =>
        host.complete(
          { server, of: { kind: 'template', uriTemplate }, argument: blank.name, value, others },
          signal,
        ),
    })),
  );
  return answers && { server, uri: expandTemplate(uriTemplate, answers) };
}

async function pickServer(servers: readonly string[]): Promise<string | undefined> {
  return vscode.window.showQuickPick([...servers], {
    title: WORDS.title,
    placeHolder: vscode.l10n.t('Of which server?'),
  });
}

function rowsOf(server: string, { resources, templates, failure }: ResourceList): readonly Row<Choice>[] {
  const rows = [...resources.map(resourceRow), ...templates.map(templateRow)];
  if (failure !== undefined) {
    rows.push({
      label: `$(warning) ${vscode.l10n.t('This list is not whole')}`,
      detail: plainMessage(failure),
    });
  }
  if (rows.length === 0) return [];
  return [{ label: server, kind: vscode.QuickPickItemKind.Separator }, ...rows];
}

function resourceRow(info: ResourceInfo): Row<Choice> {
  const { server, uri, name, title, description, mimeType, size } = info;
  const about = [uri, mimeType, size === undefined ? undefined : describeSize(size)];
  return {
    label: `$(file) ${plainMessage(title ?? name)}`,
    description: plainMessage(about.filter((each) => each !== undefined).join(', ')),
    detail: plainMessage(description ?? ''),
    value: { kind: 'resource', resource: { server, uri } },
  };
}

function templateRow(template: TemplateInfo): Row<Choice> {
  return {
    label: `$(symbol-parameter) ${plainMessage(template.title ?? template.name)}`,
    description: plainMessage(template.uriTemplate),
    detail: plainMessage(template.description ?? ''),
    value: { kind: 'template', template },
  };
}

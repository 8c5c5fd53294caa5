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
import { askWithCompletion } from '../ui/completionInput.ts';
import { type PickTexts, pickGrowing, type Row, serverRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';

type Choice =
  | { readonly kind: 'resource'; readonly resource: ResourceName }
  | { readonly kind: 'template'; readonly template: TemplateInfo };

const TEXTS: PickTexts = {
  title: vscode.l10n.t('Filechat: Read Resource'),
  waiting: vscode.l10n.t('Asking the servers for their resources…'),
  question: vscode.l10n.t('Which resource?'),
  nothing: vscode.l10n.t('No server has resources.'),
};

export interface ResourceChoice {
  readonly server: string | undefined;
  readonly uri: string | undefined;
  readonly template: string | undefined;
  readonly servers: () => Promise<readonly string[]>;
  /** Whether to use a template that the server does not list. */
  readonly allowsUnlisted?: boolean;
}

/** The resource that the caller names; the user picks what is missing. */
export async function chooseResource(
  host: ServerHost,
  choice: ResourceChoice,
): Promise<ResourceName | undefined> {
  const { server, template, allowsUnlisted } = choice;
  if (server === undefined || template === undefined) return pickResource(host, choice);
  const message = plainMessage(vscode.l10n.t('Asking {0} for its resources', server));
  const list = await withNotice(message, (signal) => host.listResources(server, signal));
  if (!list) return undefined;
  const found = list.templates.find(({ uriTemplate }) => uriTemplate === template);
  if (!found && !allowsUnlisted) {
    throw new Error(vscode.l10n.t('It has no template {0} any more.', template));
  }
  return fillTemplate(host, found ?? { server, uriTemplate: template, name: template });
}

async function pickResource(
  host: ServerHost,
  { server, uri, servers }: ResourceChoice,
): Promise<ResourceName | undefined> {
  const among = server === undefined ? await servers() : [server];
  if (uri !== undefined) {
    const chosen = among.length > 1 ? await pickServer(among) : among[0];
    return chosen === undefined ? undefined : { server: chosen, uri };
  }
  const choice = await pickGrowing<Choice>(TEXTS, (signal) =>
    among.map(async (each) => rowsOf(each, await host.listResources(each, signal))),
  );
  return choice?.kind === 'template' ? fillTemplate(host, choice.template) : choice?.resource;
}

/** Asks for the variables of a template. Resolves to undefined when the user cancels. */
async function fillTemplate(
  host: ServerHost,
  { server, uriTemplate, name, title }: TemplateInfo,
): Promise<ResourceName | undefined> {
  const answers = await askWithCompletion(
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
    title: TEXTS.title,
    placeHolder: vscode.l10n.t('Of which server?'),
  });
}

function rowsOf(server: string, { resources, templates, failure }: ResourceList): readonly Row<Choice>[] {
  return serverRows(server, [...resources.map(resourceRow), ...templates.map(templateRow)], failure);
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

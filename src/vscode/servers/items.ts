import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type {
  PromptInfo,
  PromptList,
  ResourceInfo,
  ResourceList,
  ServerState,
  TemplateInfo,
} from '../../ports/servers.ts';
import type { ToolInfo, ToolList } from '../../ports/tools.ts';
import { localSentence } from '../ui/coreSentences.ts';
import { plainMessage, truncate } from '../ui/plainMessage.ts';
import { formatNumber, t } from '../ui/words.ts';

export interface ServerRow {
  readonly server: string;
  readonly source: 'user' | 'profile' | 'workspace' | 'sample';
  /** Connected over HTTP, possibly with a sign-in. */
  readonly isRemote: boolean;
  /** `unasked`: a workspace server without the user's permission. */
  readonly state: ServerState | { readonly kind: 'unasked' };
}

export type Group = 'tools' | 'resources' | 'templates' | 'prompts';

/** A row of the tree. Commands get the node as their argument, so it has the fields that they read. */
export type ServerNode =
  | { readonly kind: 'server'; readonly server: string }
  | GroupNode
  | Readonly<{ kind: 'tool'; server: string; tool: string; info: ToolInfo }>
  | Readonly<{ kind: 'resource'; server: string; resource: string; info: ResourceInfo }>
  | Readonly<{ kind: 'template'; server: string; template: string; info: TemplateInfo }>
  | Readonly<{ kind: 'prompt'; server: string; prompt: string; info: PromptInfo }>
  | NoteNode;

export interface GroupNode {
  readonly kind: 'group';
  readonly server: string;
  readonly group: Group;
}

interface NoteNode {
  readonly kind: 'note';
  readonly server: string;
  readonly text: string;
  readonly icon: string;
  readonly command?:
    | 'filechat.startServer'
    | 'filechat.restartServer'
    | 'filechat.editServer'
    | 'filechat.showServerLog';
}

/** How a row is shown. All text is plain; `tooltip` may have several lines. */
export interface Item {
  readonly label: string;
  readonly description?: string;
  readonly tooltip?: string;
  /** A codicon, or an image as a data: URL. */
  readonly icon?: { readonly id: string; readonly color?: string } | { readonly image: string };
  /** `viewItem` in the `when` clauses of menus. */
  readonly contextValue: string;
}

interface Look {
  readonly label: string;
  readonly icon: { readonly id: string; readonly color?: string };
}

function lookOf(kind: ServerRow['state']['kind']): Look {
  return {
    idle: { label: t('not started'), icon: { id: 'circle-outline' } },
    starting: { label: t('starting…'), icon: { id: 'loading~spin' } },
    ready: { label: t('ready'), icon: { id: 'pass-filled', color: 'testing.iconPassed' } },
    failed: { label: t('failed'), icon: { id: 'error', color: 'problemsErrorIcon.foreground' } },
    unasked: { label: t('not allowed yet'), icon: { id: 'lock' } },
  }[kind];
}

function sourceLabel(source: ServerRow['source']): string {
  return {
    user: t('From your settings.'),
    profile: t('From mcp.json of your VS Code profile.'),
    workspace: t('From .vscode/mcp.json of this workspace.'),
    sample: t('Included with Filechat for the tour. Your own servers replace it.'),
  }[source];
}

export function serverItem({ server, source, state, isRemote }: ServerRow): Item {
  const { label, icon } = lookOf(state.kind);
  return {
    label: plainMessage(server),
    description: plainMessage([label, ...shortDetails(server, state)].join(' · ')),
    tooltip: uniqueLines(`${server}: ${label}`, ...fullDetails(state), sourceLabel(source)),
    icon,
    // The sample server is not configured anywhere, so it cannot be edited or removed. Servers of VS Code are removed there.
    contextValue: `server.${state.kind}${isRemote ? '.remote' : ''}${/sample|profile/.test(source) ? `.${source}` : ''}`,
  };
}

function shortDetails(server: string, state: ServerRow['state']): readonly string[] {
  if (state.kind === 'ready') return state.about.version === '' ? [] : [state.about.version];
  return state.kind === 'failed' ? [causeOf(server, state.reason)] : [];
}

/** Removes the name of the server and “could not be started”, which the row already shows. */
export function causeOf(server: string, reason: string): string {
  const start = `Server ${server}`;
  const rest = reason.startsWith(start) ? reason.slice(start.length) : '';
  const [, , cause = reason] = /^( could not be \w+)?: (.*)$/s.exec(rest) ?? [];
  return localSentence(cause);
}

function fullDetails(state: ServerRow['state']): readonly (string | undefined)[] {
  if (state.kind === 'failed') return [localSentence(state.reason)];
  if (state.kind !== 'ready') return [];
  const { name, title, version, protocol, instructions } = state.about;
  return [
    t('Name: {0}, version: {1}', title ?? name, version),
    t('MCP protocol version: {0}', protocol),
    instructions === undefined ? undefined : t('Instructions: {0}', instructions),
  ];
}

/** `contents` is undefined while the list is loading. */
export function groupItem({ group }: GroupNode, contents: Contents | undefined): Item {
  const { label, id } = {
    tools: { label: t('Tools'), id: 'tools' },
    resources: { label: t('Resources'), id: 'files' },
    templates: { label: t('Templates'), id: 'symbol-parameter' },
    prompts: { label: t('Prompts'), id: 'comment' },
  }[group];
  return {
    label: contents === undefined ? label : `${label} (${contents.nodes.length})`,
    ...(contents?.failure === undefined ? {} : { description: '⚠', tooltip: uniqueLines(contents.failure) }),
    icon: { id },
    contextValue: `group.${group}`,
  };
}

export function childrenOfServer({ server, state, source }: ServerRow): readonly (GroupNode | NoteNode)[] {
  const note = (text: string, icon: string, command?: NoteNode['command']): NoteNode => {
    return { kind: 'note', server, text, icon, ...(command && { command }) };
  };
  switch (state.kind) {
    case 'idle':
      return [note(t('Not started. Start the server to see its tools.'), 'play', 'filechat.startServer')];
    case 'unasked':
      return [note(t('Review Server…'), 'eye', 'filechat.startServer')];
    case 'starting':
      return [note(t('Starting…'), 'loading~spin')];
    case 'failed': {
      const cause = causeOf(server, state.reason);
      return [
        note(cause.charAt(0).toUpperCase() + cause.slice(1), 'info'),
        note(t('Restart Server'), 'debug-restart', 'filechat.restartServer'),
        ...(source === 'sample' ? [] : [note(t('Edit Server'), 'edit', 'filechat.editServer')]),
        note(t('Show Log'), 'output', 'filechat.showServerLog'),
      ];
    }
    case 'ready': {
      const { tools, resources, prompts } = state.about.offers;
      const groups: Group[] = [];
      if (tools) groups.push('tools');
      if (resources) groups.push('resources', 'templates');
      if (prompts) groups.push('prompts');
      if (groups.length === 0) return [note(t('The server has no tools, resources or prompts.'), 'info')];
      return groups.map((group) => ({ kind: 'group', server, group }));
    }
  }
}

export interface Contents {
  readonly nodes: readonly ServerNode[];
  /** Why `nodes` may be incomplete. */
  readonly failure?: string | undefined;
}

const MAX_ROWS = 1_000;

export function childrenOfGroup({ server }: GroupNode, { nodes, failure }: Contents): readonly ServerNode[] {
  const left = nodes.length - MAX_ROWS;
  const notes: NoteNode[] = [];
  const note = (text: string, icon: string) => notes.push({ kind: 'note', server, text, icon });
  if (left > 0) note(t('{0} more are not shown.', left), 'ellipsis');
  if (failure !== undefined) note(failure, 'warning');
  return [...nodes.slice(0, MAX_ROWS), ...notes];
}

/** The contents of groups that come from one list. */
export type Lists = Readonly<Partial<Record<Group, Contents>>>;

export function toolContents(server: string, { tools, failures }: ToolList): Lists {
  const nodes = tools
    .filter((info) => info.server === server)
    .map((info): ServerNode => ({ kind: 'tool', server, tool: info.tool, info }));
  return { tools: { nodes, failure: failures.find((each) => each.server === server)?.reason } };
}

export function resourceContents(server: string, { resources, templates, failure }: ResourceList): Lists {
  return {
    resources: {
      nodes: resources.map((info) => ({ kind: 'resource', server, resource: info.uri, info })),
      failure,
    },
    templates: {
      nodes: templates.map((info) => ({ kind: 'template', server, template: info.uriTemplate, info })),
      failure,
    },
  };
}

export function promptContents(server: string, { prompts, failure }: PromptList): Lists {
  const nodes = prompts.map((info): ServerNode => ({ kind: 'prompt', server, prompt: info.prompt, info }));
  return { prompts: { nodes, failure } };
}

export type OfferNode = Exclude<ServerNode, { readonly kind: 'server' | 'group' }>;

export function offerItem(node: OfferNode): Item {
  switch (node.kind) {
    case 'tool':
      return toolItem(node.info);
    case 'resource':
      return resourceItem(node.info, node.resource, 'resource');
    case 'template':
      return resourceItem(node.info, node.template, 'template');
    case 'prompt':
      return promptItem(node.info);
    case 'note': {
      const { text, icon } = node;
      return {
        label: plainMessage(text),
        tooltip: uniqueLines(text),
        icon: { id: icon },
        contextValue: 'note',
      };
    }
  }
}

function toolItem({ tool, title, description, readOnly, destructive, forAppsOnly, icon }: ToolInfo): Item {
  const claims = [
    readOnly && t('Only reads data, according to the server.'),
    destructive && t('May delete or overwrite data, according to the server.'),
    forAppsOnly && t('Only apps can call this tool. Models do not see it.'),
  ].filter((claim) => typeof claim === 'string');
  return {
    label: plainMessage(tool),
    ...described(title),
    tooltip: uniqueLines(tool, title, description, ...claims),
    icon: iconOf(icon, destructive ? 'warning' : 'symbol-method'),
    contextValue: forAppsOnly ? 'tool.forApps' : 'tool',
  };
}

function resourceItem(
  info: Omit<ResourceInfo, 'uri'>,
  address: string,
  contextValue: 'resource' | 'template',
): Item {
  const { name, title, description, mimeType, icon } = info;
  const size = info.size === undefined ? undefined : t('{0} bytes', formatNumber(info.size));
  return {
    label: plainMessage(title ?? name),
    ...described(address),
    tooltip: uniqueLines(address, title, name, mimeType, size, description),
    icon: iconOf(icon, contextValue === 'resource' ? 'file' : 'symbol-parameter'),
    contextValue,
  };
}

function promptItem({ prompt, title, description, arguments: args, icon }: PromptInfo): Item {
  const asked = args.map(({ name, required }) => (required ? name : t('{0} (optional)', name))).join(', ');
  return {
    label: plainMessage(prompt),
    ...described(title),
    tooltip: uniqueLines(prompt, title, description, asked && t('Arguments: {0}', asked)),
    icon: iconOf(icon, 'comment'),
    contextValue: 'prompt',
  };
}

function iconOf(image: string | undefined, id: string): NonNullable<Item['icon']> {
  return image === undefined ? { id } : { image };
}

function described(text: string | undefined): Pick<Item, 'description'> {
  return text === undefined ? {} : { description: plainMessage(text) };
}

const MAX_TOOLTIP_CHARS = 2_000;

function uniqueLines(...texts: readonly (string | undefined)[]): string {
  const lines = new Set(texts.map((text) => showInvisible(text ?? '').trim()).filter((text) => text !== ''));
  return truncate([...lines].join('\n'), MAX_TOOLTIP_CHARS);
}

/** For the status bar. Undefined when there is no server except an idle sample server. */
export function statusText(rows: readonly ServerRow[]) {
  const shown = rows.filter(({ source, state }) => source !== 'sample' || state.kind !== 'idle');
  if (shown.length === 0) return undefined;
  const ready = shown.filter(({ state }) => state.kind === 'ready').length;
  const servers = shown.map(({ server, state }) => {
    const reason = state.kind === 'failed' ? `: ${plainMessage(causeOf(server, state.reason))}` : '';
    return `${plainMessage(server)}: ${lookOf(state.kind).label}${reason}`;
  });
  return {
    text: `$(plug) ${ready}/${shown.length}`,
    tooltip: [t('MCP servers of Filechat'), ...servers].join('\n'),
    isWarning: shown.some(({ state }) => state.kind === 'failed'),
  };
}

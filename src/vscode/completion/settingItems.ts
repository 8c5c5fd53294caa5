import * as vscode from 'vscode';
import { renderValue, SETTING_KEYS, type SettingKey, settingRule } from '../../chat/format/frontMatter.ts';
import { wellKnownModels } from '../../model/config/facts.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { rangeOf } from '../chat/chatFiles.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { createItem, type ItemDeps, type RequestAt, sortKey } from './request.ts';

const { t } = vscode.l10n;

const ABOUT: Readonly<Record<SettingKey, string>> = {
  model: t('The model: a name from the setting filechat.models, or provider/model.'),
  agent: t('The agent: a file .filechat/NAME.md with settings and instructions.'),
  system: t('Instructions for the model (system prompt).'),
  title: t('The name of the chat in lists.'),
  servers: t('The servers that this chat can use. The default is all servers.'),
  tools: t('The tools that this chat can use, as patterns such as "charts.*".'),
  maxSteps: t('The number of replies in a row after which a run asks whether to continue.'),
  maxTokens: t('The maximum length of a reply in tokens.'),
  temperature: t('The sampling temperature, from 0 to 2.'),
  approve: t(
    'Whether tool calls need your permission. This can be stricter than your setting, but not less strict.',
  ),
  reasoning: t('How much the model reasons before it replies.'),
};

/** A few words; settings with few values list them instead. */
const BRIEF: Readonly<Partial<Record<SettingKey, string>>> = {
  model: t('model for the replies'),
  agent: t('a file .filechat/NAME.md'),
  system: t('instructions for the model'),
  title: t('name of the chat'),
  servers: t('list of servers that may be used'),
  tools: t('list of tools that may be used'),
  maxSteps: t('steps before a run asks to continue'),
  maxTokens: t('tokens per reply'),
  temperature: t('number from 0 to 2'),
};

const ABOUT_APPROVAL: Readonly<Record<string, string>> = {
  ask: t('Ask before each call'),
  'auto-readonly': t('Run read-only tools without asking'),
  auto: t('Run all calls without asking, if your setting allows it'),
};

/** Keys whose values cannot be completed. */
const FREE: ReadonlySet<SettingKey> = new Set(['system', 'title', 'maxSteps', 'maxTokens', 'temperature']);

export function hasValues(key: SettingKey): boolean {
  return !FREE.has(key);
}

export function settingKeyItems({ document, place }: RequestAt<'key'>): vscode.CompletionItem[] {
  const range = rangeOf(document, place);
  return SETTING_KEYS.filter((key) => !place.present.has(key)).map((key, at) => {
    const { choices = [], isList = false } = settingRule(key) ?? {};
    const label = { label: key, description: BRIEF[key] ?? choices.join(' | ') };
    const value = isList ? '[$0]' : '$0';
    const title = t('Show the values');
    return createItem(label, vscode.CompletionItemKind.Property, {
      insertText: place.hasColon ? key : new vscode.SnippetString(`${key}: ${value}`),
      documentation: ABOUT[key],
      range,
      sortText: sortKey(at),
      ...(!place.hasColon && hasValues(key)
        ? { command: { command: 'editor.action.triggerSuggest', title } }
        : {}),
    });
  });
}

interface SettingValue {
  readonly value: string;
  readonly about?: string | undefined;
}

export async function settingValueItems(request: RequestAt<'value'>): Promise<vscode.CompletionItem[]> {
  const { document, place } = request;
  const values = await valuesOf(request);
  const range = rangeOf(document, place);
  return values
    .filter(({ value }) => !place.taken.includes(value))
    .map(({ value, about }, at) => {
      const label = { label: plainMessage(value), ...(about ? { description: plainMessage(about) } : {}) };
      const written = renderValue(value);
      return createItem(label, vscode.CompletionItemKind.Value, {
        insertText: place.needsSpace ? ` ${written}` : written,
        // Keeps matching a value that starts with a quote.
        filterText: /^["']/.test(place.typed) ? `${place.typed.charAt(0)}${value}` : value,
        sortText: sortKey(at),
        range,
      });
    });
}

async function valuesOf({ document, place, deps }: RequestAt<'value'>): Promise<readonly SettingValue[]> {
  const choices = settingRule(place.key)?.choices;
  if (choices)
    return choices.map((value) => ({
      value,
      about: place.key === 'approve' ? ABOUT_APPROVAL[value] : undefined,
    }));
  switch (place.key) {
    case 'model':
      return modelValues(deps.models);
    case 'agent':
      return (await deps.files.agents(document.uri)).map((value) => ({
        value,
        about: `.filechat/${value}.md`,
      }));
    case 'servers':
      return (await deps.rows.all()).map(({ server }) => ({ value: server }));
    case 'tools':
      return toolPatterns(await deps.known.tools());
    default:
      return [];
  }
}

async function modelValues(models: ItemDeps['models']): Promise<readonly SettingValue[]> {
  const configured = models.configured();
  const own = [...configured.values()].map(({ name, provider, model }) => ({
    value: name,
    about: `${provider}/${model}`,
  }));
  const others = (await wellKnownModels()).filter((name) => !configured.has(name));
  const tour = { value: 'tour', about: t('Needs no key: shows what a chat can do') };
  return [...own, ...others.map((value) => ({ value })), ...(configured.has('tour') ? [] : [tour])];
}

function toolPatterns(tools: readonly ToolInfo[]): readonly SettingValue[] {
  const servers = [...new Set(tools.map(({ server }) => server))];
  const all = servers.map((server) => ({
    value: `${server}.*`,
    about: t('All tools of this server'),
  }));
  const single = tools.filter(({ forAppsOnly }) => !forAppsOnly);
  // Patterns match the tool's own name, not the encoded name of calls.
  return [...all, ...single.map((tool) => ({ value: `${tool.server}.${tool.tool}`, about: tool.title }))];
}

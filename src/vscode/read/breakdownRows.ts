import * as vscode from 'vscode';
import type { Role } from '../../chat/format/marker.ts';
import { excerptOf } from '../../chat/outline/title.ts';
import { describeCount } from '../../model/config/prices.ts';
import {
  type Breakdown,
  type BreakdownGroup,
  type BreakdownItem,
  GROUPS,
  totalOf,
} from '../../model/request/breakdown.ts';

export interface BreakdownRow extends vscode.QuickPickItem {
  readonly item?: BreakdownItem;
}

const LEAVE_OUT = (): vscode.QuickInputButton => ({
  iconPath: new vscode.ThemeIcon('eye-closed'),
  tooltip: vscode.l10n.t('Leave It Out'),
});

const MAX_ROWS_OF_GROUP = 30;

export function breakdownRows(text: string, parts: Breakdown): readonly BreakdownRow[] {
  const total = GROUPS.reduce((sum, group) => sum + totalOf(parts[group]), 0);
  return GROUPS.flatMap((group) => {
    const items = parts[group];
    if (items.length === 0) return [];
    const head = `${groupName(group)} · ${tokens(totalOf(items))}`;
    const shown = items.slice(0, MAX_ROWS_OF_GROUP);
    const rest = items.slice(MAX_ROWS_OF_GROUP);
    return [
      { label: head, kind: vscode.QuickPickItemKind.Separator },
      ...shown.map((item) => row(text, item, total)),
      ...(rest.length > 0 ? [restRow(rest)] : []),
    ];
  });
}

export function tokens(count: number): string {
  return vscode.l10n.t('≈{0} tokens', describeCount(count));
}

function row(text: string, item: BreakdownItem, total: number): BreakdownRow {
  const share = total > 0 ? Math.round((item.tokens / total) * 100) : 0;
  return {
    label: labelOf(text, item),
    description: share > 0 ? `${tokens(item.tokens)} · ${share} %` : tokens(item.tokens),
    item,
    buttons: item.leaveOut ? [LEAVE_OUT()] : [],
  };
}

function restRow(rest: readonly BreakdownItem[]): BreakdownRow {
  return { label: vscode.l10n.t('{0} smaller parts', rest.length), description: tokens(totalOf(rest)) };
}

export function labelOf(text: string, { what }: BreakdownItem): string {
  switch (what.kind) {
    case 'system':
      return `$(settings) ${vscode.l10n.t('Instructions for the model')}`;
    case 'turn': {
      const { role, words } = what.turn;
      const name = role === 'tool' && words !== '' ? words : roleName(role);
      const excerpt = excerptOf(text, what.turn);
      return `${ICONS[role]} ${plain(excerpt ? `${name}: ${excerpt}` : name)}`;
    }
    case 'file':
      return `$(file) ${plain(what.name)}`;
    case 'server':
      return `$(tools) ${plain(
        what.tools.length === 1
          ? vscode.l10n.t('{0}: 1 tool', what.server)
          : vscode.l10n.t('{0}: {1} tools', what.server, what.tools.length),
      )}`;
  }
}

const ICONS: Readonly<Record<Role, string>> = {
  user: '$(account)',
  assistant: '$(sparkle)',
  tool: '$(tools)',
  system: '$(settings)',
};

function roleName(role: Role): string {
  switch (role) {
    case 'user':
      return vscode.l10n.t('You');
    case 'assistant':
      return vscode.l10n.t('Assistant');
    case 'tool':
      return vscode.l10n.t('Tool');
    case 'system':
      return vscode.l10n.t('System');
  }
}

function groupName(group: BreakdownGroup): string {
  switch (group) {
    case 'system':
      return vscode.l10n.t('Instructions');
    case 'history':
      return vscode.l10n.t('Turns');
    case 'tools':
      return vscode.l10n.t('Tools');
    case 'attachments':
      return vscode.l10n.t('Files');
  }
}

/** Escapes `$(…)`, which is an icon in labels. */
function plain(name: string): string {
  return name.replace(/\s+/g, ' ').replaceAll('$(', '$ (');
}

import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/calls.ts';
import { allowsTool } from '../../chat/format/settings.ts';
import type { ToolHost, ToolList, ToolName } from '../../ports/tools.ts';

import { disabledTools } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const CHANGE = vscode.l10n.t('Open the Setting');

/** The tools without those that the user has switched off: nobody is told of them, and nobody can call them. */
export function withSwitches(host: ToolHost, disabled: () => readonly string[] = disabledTools): ToolHost {
  return {
    async listTools(server, signal) {
      return leaveOut(await host.listTools(server, signal), disabled());
    },
    async callTool(call, options) {
      if (isSwitchedOff(disabled(), call)) {
        throw new Error(
          `The tool ${renderToolName(call)} is switched off. Switch it on in the Filechat view, or in the setting filechat.disabledTools.`,
        );
      }
      return host.callTool(call, options);
    },
  };
}

export function isEnabled(tool: ToolName): boolean {
  return !isSwitchedOff(disabledTools(), tool);
}

/** Writes it into the user's settings. Resolves to false when a pattern there says otherwise. */
export async function setEnabled(tool: ToolName, on: boolean): Promise<boolean> {
  const switched = switchTool(disabledTools(), tool, on);
  if (!switched.ok) {
    void tellPattern(tool, switched.pattern);
    return false;
  }
  await vscode.workspace
    .getConfiguration('filechat')
    .update(
      'disabledTools',
      switched.patterns.length === 0 ? undefined : switched.patterns,
      vscode.ConfigurationTarget.Global,
    );
  return true;
}

async function tellPattern(tool: ToolName, pattern: string): Promise<void> {
  const answer = await vscode.window.showWarningMessage(
    plainMessage(
      vscode.l10n.t(
        '{0} stays switched off because of “{1}” in the setting filechat.disabledTools.',
        renderToolName(tool),
        pattern,
      ),
    ),
    CHANGE,
  );
  if (answer === CHANGE) {
    await vscode.commands.executeCommand('workbench.action.openSettings', 'filechat.disabledTools');
  }
}

/** Whether one of the patterns, such as `charts.*`, is about the tool. */
export function isSwitchedOff(patterns: readonly string[], tool: ToolName): boolean {
  return allowsTool({ tools: patterns }, tool);
}

/** The list without what is switched off. A server of which no tool is left has nothing to say to a model either. */
export function leaveOut(list: ToolList, patterns: readonly string[]): ToolList {
  const tools = list.tools.filter((tool) => !isSwitchedOff(patterns, tool));
  const has = (among: ToolList['tools'], server: string) => among.some((tool) => tool.server === server);
  const instructions = list.instructions?.filter(
    ({ server }) => has(tools, server) || !has(list.tools, server),
  );
  return { ...list, tools, ...(instructions === undefined ? {} : { instructions }) };
}

export type Switched =
  | { readonly ok: true; readonly patterns: readonly string[] }
  /** This pattern is about other tools as well, so it is the user's to change. */
  | { readonly ok: false; readonly pattern: string };

/** The patterns with one tool more, or one less. */
export function switchTool(patterns: readonly string[], tool: ToolName, on: boolean): Switched {
  const name = `${tool.server}.${tool.tool}`;
  if (!on) return { ok: true, patterns: isSwitchedOff(patterns, tool) ? patterns : [...patterns, name] };
  const others = patterns.filter((pattern) => pattern !== name);
  const wider = others.find((pattern) => isSwitchedOff([pattern], tool));
  return wider === undefined ? { ok: true, patterns: others } : { ok: false, pattern: wider };
}

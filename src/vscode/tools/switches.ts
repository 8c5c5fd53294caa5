import * as vscode from 'vscode';
import { type BuiltInOptions, withBuiltInTools } from '../../catalog/tools/builtIn.ts';
import type { ResourceHost } from '../../catalog/tools/resourceTools.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import { isSwitchedOff, switchTool, withSwitches } from '../../mcp/pool/switchedTools.ts';
import type { ToolHost, ToolName } from '../../ports/tools.ts';
import { disabledTools } from '../settings.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withEditorTools } from './editorTools.ts';

const CHANGE = vscode.l10n.t('Open Setting');

/** The tools that chats may call: those of MCP servers, Filechat's own and VS Code's, unless switched off. */
export function chatTools(servers: ToolHost & ResourceHost, builtIns: BuiltInOptions): ToolHost {
  return withSwitches(withEditorTools(withBuiltInTools(servers, builtIns)), disabledTools);
}

export function isEnabled(tool: ToolName): boolean {
  return !isSwitchedOff(disabledTools(), tool);
}

/** Changes the user settings. Resolves to false if a pattern there still matches the tool. */
export async function setEnabled(tool: ToolName, on: boolean): Promise<boolean> {
  const switched = switchTool(disabledTools(), tool, on);
  if (!switched.ok) {
    void showPattern(tool, switched.pattern);
    return false;
  }
  const patterns = switched.patterns.length === 0 ? undefined : switched.patterns;
  await vscode.workspace
    .getConfiguration('filechat')
    .update('disabledTools', patterns, vscode.ConfigurationTarget.Global);
  return true;
}

async function showPattern(tool: ToolName, pattern: string): Promise<void> {
  const answer = await vscode.window.showWarningMessage(
    plainMessage(
      vscode.l10n.t(
        '{0} is still turned off by “{1}” in the setting filechat.disabledTools.',
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

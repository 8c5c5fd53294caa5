import * as vscode from 'vscode';
import { placeAt } from '../../chat/completion/place.ts';
import { printJson } from '../../mcp/schema/example.ts';
import { isChat } from '../chat/chatFiles.ts';
import { chatOf } from '../chat/openChats.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { ToolHelp } from './argumentHelp.ts';

const MAX_DESCRIPTION_CHARS = 2000;
const MAX_CHOICES = 20;

/** What an argument is for, as its tool describes it. */
export class ArgumentHover implements vscode.HoverProvider {
  readonly #help: ToolHelp;

  constructor(help: ToolHelp) {
    this.#help = help;
  }

  async provideHover(
    document: vscode.TextDocument,
    position: vscode.Position,
  ): Promise<vscode.Hover | undefined> {
    if (!isChat(document.uri)) return undefined;
    const place = placeAt(document.getText(), chatOf(document), document.offsetAt(position));
    if (place?.kind !== 'arguments') return undefined;
    const help = await this.#help.of(place.call);
    const found = help?.at(place.call.argumentsText, place.offset);
    const name = found?.steps.at(-1);
    if (!found || typeof name !== 'string' || Object.keys(found.keywords).length === 0) return undefined;
    return new vscode.Hover(describe(name, found.keywords, found.choices));
  }
}

/** All of it is the server's text, and shown as nothing but text. */
function describe(
  name: string,
  { type, title, description, default: usual }: Readonly<Record<string, unknown>>,
  choices: readonly unknown[],
): vscode.MarkdownString {
  const { t } = vscode.l10n;
  const types = [type].flat().filter((each) => typeof each === 'string');
  const head = types.length > 0 ? `${name}: ${types.join(' | ')}` : name;
  const hover = new vscode.MarkdownString().appendCodeblock(plainMessage(head), 'typescript');
  const said = [title, description].filter((each) => typeof each === 'string' && each !== '');
  for (const each of said) paragraph(hover, String(each).slice(0, MAX_DESCRIPTION_CHARS));
  const shown = choices.slice(0, MAX_CHOICES).flatMap((each) => printJson(each) ?? []);
  if (shown.length > 0) paragraph(hover, t('One of: {0}', plainMessage(shown.join(', '))));
  const json = usual === undefined ? undefined : printJson(usual);
  if (json !== undefined) paragraph(hover, t('Default: {0}', plainMessage(json)));
  return hover;
}

function paragraph(hover: vscode.MarkdownString, text: string): void {
  hover.appendMarkdown('\n\n').appendText(text);
}

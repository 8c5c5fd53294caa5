import * as vscode from 'vscode';
import type { ToolRequest } from '../../listener.ts';
import { printAnswer } from '../../mcp/schema/answer.ts';
import { argumentQuestions, fillDefaults, missingArguments } from '../../mcp/schema/arguments.ts';
import type { ToolHost, ToolInfo } from '../../ports/tools.ts';
import { askInput, type Choice } from '../ui/askInput.ts';
import { type Fields, readObject, readString } from '../ui/commandArguments.ts';
import { offerRow, perServer, pickGrowing, serverRows } from '../ui/growingPick.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withNotice } from '../ui/progress.ts';
import type { Answers } from '../ui/wizard.ts';
import type { LastArguments } from './lastArguments.ts';
import { askArguments } from './toolArguments.ts';

interface ToolChoice {
  readonly host: ToolHost;
  /** The servers to choose from, in the order of the list. */
  readonly among: () => Promise<readonly string[]>;
  readonly last: Pick<LastArguments, 'of' | 'remember'>;
}

/** The call that a command names; the user picks what is missing. */
export async function chooseTool(fields: Fields, choice: ToolChoice): Promise<ToolRequest | undefined> {
  const server = readString(fields, 'server');
  const tool = readString(fields, 'tool');
  const given = readObject(fields, 'arguments') ?? {};
  if (server === undefined || tool === undefined) return pickAndAsk(choice, given);
  const message = vscode.l10n.t('Loading tools from {0}', server);
  const list = await withNotice(message, (signal) => choice.host.listTools(server, signal));
  if (!list) return undefined;
  const info = list.tools.find((each) => each.tool === tool && !each.forAppsOnly);
  // The turn loop reports an unknown tool, and rejects a tool for apps.
  if (!info || missingArguments(info.inputSchema, given).length === 0) {
    return { server, tool, arguments: given };
  }
  const asked = await askFor(info, { given, last: choice.last, canGoBack: false });
  return asked === 'back' ? undefined : asked;
}

/** Back from the first argument leads to the tools again. */
async function pickAndAsk(
  { host, among, last }: ToolChoice,
  given: Answers,
): Promise<ToolRequest | undefined> {
  for (;;) {
    const picked = await pickTool(host, await among());
    if (!picked) return undefined;
    const asked = await askFor(picked, { given, last, canGoBack: true });
    if (asked !== 'back') return asked;
  }
}

interface Asking {
  readonly given: Answers;
  readonly last: ToolChoice['last'];
  readonly canGoBack: boolean;
}

/** Offers the last arguments, then asks for the missing ones and remembers them. */
async function askFor(
  tool: ToolInfo,
  { given, last, canGoBack }: Asking,
): Promise<ToolRequest | 'back' | undefined> {
  const used = Object.keys(given).length === 0 ? await last.of(tool) : undefined;
  const request = (args: Answers) => ({
    server: tool.server,
    tool: tool.tool,
    arguments: fillDefaults(tool.inputSchema, args),
  });
  for (;;) {
    const way = used ? await askHow(tool, used, canGoBack) : 'new';
    if (way === undefined || way === 'back') return way;
    if (way === 'use') return request(used ?? {});
    const initial = way === 'change' ? (used ?? {}) : {};
    const mayGoBack = canGoBack || used !== undefined;
    const answers = await askArguments(tool, { given, initial, canGoBack: mayGoBack });
    if (answers === undefined) return undefined;
    if (answers !== 'back') {
      await last.remember(tool, { ...given, ...answers });
      return request({ ...given, ...answers });
    }
    if (!used) return 'back';
  }
}

type Way = 'use' | 'change' | 'new';

/** Secrets are not remembered, so the last arguments may be incomplete. */
async function askHow(tool: ToolInfo, last: Answers, canGoBack: boolean): Promise<Way | 'back' | undefined> {
  const pick = vscode.window.createQuickPick<Choice & { readonly text: Way }>();
  const isComplete = missingArguments(tool.inputSchema, last).length === 0;
  pick.title = plainMessage(tool.tool);
  pick.placeholder = vscode.l10n.t('Which arguments?');
  pick.items = [
    ...(isComplete
      ? [
          {
            label: `$(history) ${vscode.l10n.t('Use Last Arguments')}`,
            detail: describeArguments(tool, last),
            text: 'use' as const,
          },
        ]
      : []),
    { label: `$(edit) ${vscode.l10n.t('Change Last Arguments…')}`, text: 'change' },
    { label: `$(new-file) ${vscode.l10n.t('Enter New Arguments…')}`, text: 'new' },
  ];
  const accepted = () => pick.activeItems[0]?.text;
  const reply = await askInput(Object.assign(pick, { accepted }), { canGoBack });
  if (reply.kind !== 'answer') return reply.kind === 'back' ? 'back' : undefined;
  return pick.items.find(({ text }) => text === reply.text)?.text;
}

function describeArguments(tool: ToolInfo, args: Answers): string {
  const shown = argumentQuestions(tool.inputSchema)
    .filter(({ name }) => Object.hasOwn(args, name))
    .map((question) => `${question.name}: ${printAnswer(question, args[question.name])}`);
  return plainMessage(shown.join(', '));
}

function pickTool(host: ToolHost, servers: readonly string[]): Promise<ToolInfo | undefined> {
  const texts = {
    title: vscode.l10n.t('Filechat: Call Tool'),
    waiting: vscode.l10n.t('Loading tools…'),
    question: vscode.l10n.t('Which tool?'),
    nothing: vscode.l10n.t('There are no tools. Add a server with Filechat: Add Server.'),
  };
  return pickGrowing(
    texts,
    perServer(servers, async (server, signal) => {
      const { tools, failures } = await host.listTools(server, signal);
      const rows = tools
        .filter(({ forAppsOnly }) => !forAppsOnly)
        .map((info) => offerRow('tools', info.tool, info.title, info));
      const warning = vscode.l10n.t('$(warning) This server cannot be used');
      return serverRows(server, rows, failures[0]?.reason, warning);
    }),
    { inOrder: true, staysOnTop: true },
  );
}

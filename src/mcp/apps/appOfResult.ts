import { field, isObject } from '../../base/json2.ts';
import type { ServerHost, Spills, ToolCall, ToolInfo } from '../../ports.ts';
import { type App, appBlock, withPolicy } from './app.ts';
import { fetchApp } from './fetchApp.ts';
import { restoreForApp } from './result.ts';

/** Where apps are shown. */
export interface AppSink {
  /** Whether a server runs on this machine: its app may then reach loopback. */
  isLocal(server: string): Promise<boolean>;
  show(app: AppResult): void;
}

/** What an app is shown with. */
export interface AppResult {
  readonly chat: string | undefined;
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  /** As it came, with all its bytes, as many as an app can take. */
  readonly result: unknown;
  readonly app: App;
}

export interface AppCall {
  readonly host: Pick<ServerHost, 'fetchResource' | 'listResources'>;
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  readonly chat: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly spills: Spills;
}

/** A page that takes longer does not keep the result waiting. */
const PATIENCE_MS = 5000;

/** Shows the app of a tool, and gives the tool's result with the app's page as one more block of it. */
export async function showWithResult(result: unknown, sink: AppSink, about: AppCall): Promise<unknown> {
  const { host, call, tool, chat, signal, spills } = about;
  const content = field(result, 'content');
  if (tool.app === undefined || !Array.isArray(content) || !isObject(result)) return result;
  const late = AbortSignal.timeout(PATIENCE_MS);
  const either = signal === undefined ? late : AbortSignal.any([signal, late]);
  const name = { server: tool.server, uri: tool.app };
  const app = await fetchApp(host, name, { local: await sink.isLocal(tool.server), signal: either }).catch(
    () => ({ problem: 'the server takes too long to send it' }),
  );
  signal?.throwIfAborted();
  if ('problem' in app) {
    const text = `The app of this tool is not shown: ${app.problem}`;
    return { ...result, content: [...content, { type: 'text', text, annotations: { audience: ['user'] } }] };
  }
  sink.show({ chat, call, tool, result: await restoreForApp(result, spills), app });
  return { ...result, content: [...content, appBlock(withPolicy(app.html, app.csp), tool.app)] };
}

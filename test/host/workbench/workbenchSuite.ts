/** The host suite in the npm-delivered workbench. */
import { format } from 'node:util';
import { bridgeExtension } from '../bridge.ts';
import type { SuiteRun } from '../runSuite.ts';
import { startLane } from './lane.ts';
import { openWorkbench } from './page.ts';
import { quietSettings } from './server.ts';
import { openWindow } from './window.ts';

/** No test takes as long, so the suite hangs. */
const silenceTimeoutMs = 2 * 60_000;

/** Resolves to what the extension host logged, whether the tests passed or not. */
export async function runInWorkbench(run: SuiteRun): Promise<string> {
  await using lane = await startLane({ allBuiltins: true, env: run.env });
  await using window = await openWindow(lane, { vsix: run.vsix, settings: quietSettings });
  const { page } = window;
  // Nobody looks at it, and what is small is drawn quickly.
  await page.setViewportSize({ width: 640, height: 480 });
  const log: string[] = [];
  const ended = Promise.withResolvers<string>();
  const hung = setTimeout(
    () => ended.resolve(`The suite has printed nothing for ${silenceTimeoutMs / 1000} s.`),
    silenceTimeoutMs,
  ).unref();
  // The workbench calls these two while it runs tests.
  await page.exposeFunction('codeAutomationLog', (_type: string, args: unknown[]) => {
    log.push(format(...args));
    hung.refresh();
  });
  await page.exposeFunction('codeAutomationExit', () => ended.resolve('The suite has ended.'));
  const { folder, entry } = run;
  await openWorkbench(page, lane.server, { folder }, { extensions: [bridgeExtension], tests: entry });
  log.push(await ended.promise);
  clearTimeout(hung);
  return log.join('\n');
}

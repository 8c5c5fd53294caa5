/** How a person answers the questions of Filechat. */
import type { Locator, Page } from 'playwright-core';
import { codeLens, toast } from '../workbench/page.ts';

/** Answers the call of this tool, which waits in the chat in front: allows it by its key, or clicks an answer above it. */
export async function answerCall(page: Page, tool: string, answer?: string): Promise<void> {
  await waitingCall(page, tool).waitFor();
  if (answer !== undefined) return codeLens(page, answer).click();
  // Not by mouse: earlier turns are folded at the same time, which moves the call.
  await page.keyboard.press('Alt+M');
  await page.keyboard.press('Enter');
}

/** The status bar names the call that waits in the chat in front. */
export function waitingCall(page: Page, tool: string): Locator {
  return page.locator('.statusbar-item', { hasText: `${tool} asks for permission` });
}

/** A question in a notification. */
export function notice(page: Page, text: string | RegExp): Locator {
  return toast(page, text).first();
}

/** Clicks an answer of a question in a notification, and waits until the question is gone. */
export async function answerNotice(page: Page, text: string | RegExp, answer: string): Promise<void> {
  const question = notice(page, text);
  await question.waitFor();
  const shown = await question.elementHandle();
  await question.getByText(answer, { exact: true }).click();
  await shown?.waitForElementState('hidden');
}

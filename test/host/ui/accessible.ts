import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Frame, Page } from 'playwright-core';
import { waitFor } from '../process.ts';
import { checkout } from '../workspace.ts';

/** Asserts that axe-core finds nothing in the webview that holds this element. */
export async function assertAccessible(page: Page, selector: string): Promise<void> {
  const frame = await frameWith(page, selector);
  await frame.evaluate(readFileSync(join(checkout, 'node_modules', 'axe-core', 'axe.min.js'), 'utf8'));
  const found = await frame.evaluate<string[]>(
    `axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) =>
      violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join('\\n')))`,
  );
  assert.deepEqual(found, []);
}

/** The page itself, for what a locator cannot do. */
export async function frameWith(page: Page, selector: string): Promise<Frame> {
  return waitFor(`a webview with ${selector}`, 10_000, async () => {
    for (const frame of page.frames()) {
      if (await frame.$(selector).catch(() => null)) return frame;
    }
    return undefined;
  });
}

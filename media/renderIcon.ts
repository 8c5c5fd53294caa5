/** Draws the icon of the marketplace from its source: `node media/renderIcon.ts`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { installBrowser } from '../test/host/workbench/browser.ts';

const SIZE = 128;
const svg = await readFile(join(import.meta.dirname, 'icon.svg'), 'utf8');
const browser = await chromium.launch({ executablePath: await installBrowser(), args: ['--no-sandbox'] });
try {
  const page = await browser.newPage({ viewport: { width: SIZE, height: SIZE } });
  await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`);
  await page.screenshot({ path: join(import.meta.dirname, 'icon.png'), omitBackground: true });
} finally {
  await browser.close();
}

import { chromium } from 'playwright-core';
import { installBrowser } from './browser.ts';

/** Draws an SVG into a PNG file, `scale` pixels for each of its own. */
export async function renderSvg(
  svg: string,
  viewport: { readonly width: number; readonly height: number },
  path: string,
  scale = 1,
): Promise<void> {
  const browser = await chromium.launch({ executablePath: await installBrowser(), args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport, deviceScaleFactor: scale });
    await page.setContent(`<style>body{margin:0}svg{display:block}</style>${svg}`);
    await page.screenshot({ path, omitBackground: true });
  } finally {
    await browser.close();
  }
}

/** Draws the icon of the marketplace from its source: `node media/renderIcon.ts`. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { renderSvg } from '../test/host/workbench/renderSvg.ts';

const svg = await readFile(join(import.meta.dirname, 'icon.svg'), 'utf8');
await renderSvg(svg, { width: 128, height: 128 }, join(import.meta.dirname, 'icon.png'));

/** `npm run bench`: see `USAGE` in `options.ts`. */
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { renderSvg } from '../host/workbench/renderSvg.ts';
import { benchAssets } from './assets.ts';
import { benchChats } from './chat/chat.ts';
import { benchContent } from './content/content.ts';
import { benchEditor } from './editor/editor.ts';
import { type BenchOutcome, type Conditions, currentConditions, describeConditions } from './frame.ts';
import { type Options, type Part, readOptions } from './options.ts';
import { benchResults, STOPPED } from './results/bench.ts';
import { drawChart } from './results/svg.ts';
import { benchServers } from './servers.ts';

const BENCHES: Readonly<Record<Exclude<Part, 'results'>, () => Promise<BenchOutcome>>> = {
  chat: benchChats,
  content: benchContent,
  assets: benchAssets,
  servers: benchServers,
  editor: benchEditor,
};

async function main(options: Options): Promise<void> {
  const { parts, from, svgFile, jsonFile } = options;
  for (const part of parts) {
    const conditions = currentConditions();
    if (part === 'results') {
      const outcome = await benchResults(options);
      const results = { ...conditions, ...outcome.figures };
      await finish(results, outcome, from === undefined ? jsonFile : undefined);
      if (svgFile !== undefined) await drawTo(svgFile, drawChart(results));
    } else if (from === undefined) {
      const outcome = await BENCHES[part]();
      await finish({ ...conditions, ...outcome.figures }, outcome, join(dirname(jsonFile), `${part}.json`));
    }
  }
}

async function finish(results: Conditions, { report, passed }: BenchOutcome, file: string | undefined) {
  console.log(`${describeConditions(results)}\n\n${report}`);
  if (file !== undefined) await write(file, `${JSON.stringify(results, null, 2)}\n`);
  if (!passed) process.exitCode = 1;
}

/** As an SVG for the documentation, and as a PNG for the README: the marketplace refuses an SVG there. */
async function drawTo(svgFile: string, svg: string): Promise<void> {
  await write(svgFile, svg);
  const pngFile = svgFile.replace(/(?:\.svg)?$/, '.png');
  const [width = 0, height = 0] = ['width', 'height'].map((side) => sideOf(svg, side));
  await renderSvg(svg, { width, height }, pngFile, 2);
  console.log(`Wrote ${pngFile}.`);
}

function sideOf(svg: string, name: string): number {
  return Number(new RegExp(` ${name}="(\\d+)"`).exec(svg)?.[1]);
}

async function write(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
  console.log(`Wrote ${path}.`);
}

try {
  await main(readOptions(process.argv.slice(2)));
} catch (error) {
  console.error((error as Error).message);
  process.exitCode = error === STOPPED ? 130 : 2;
}

/** Chats to look at in the preview: one that has everything, and one that tries everything. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { encodeWav } from '../../../samples/server/encode/wav.ts';
import { renderMelody, tuneHalfTones } from '../../../samples/server/melody.ts';
import { writeReport } from '../../../samples/server/report.ts';
import type { Workspace } from '../workspace.ts';

const SAMPLE_RATE = 16_000;

export function writeAssets({ path }: Workspace): void {
  mkdirSync(path('cmdassets'), { recursive: true });
  const notes = [0, 4, 7, 12].map((halfTones) => ({ hertz: tuneHalfTones(halfTones), seconds: 0.4 }));
  const files: Readonly<Record<string, Uint8Array | string>> = {
    'tool-image-20261116-093012-V1StGXR8a0-1.png': encodePng(
      drawChart({
        title: 'Sales by quarter',
        values: [3, 5, 4, 8],
        labels: ['Q1', 'Q2', 'Q3', 'Q4'],
        style: 'bars',
      }),
    ),
    'tool-audio-20261116-093012-V1StGXR8a0-1.wav': encodeWav(renderMelody(notes, SAMPLE_RATE)),
    'tool-file-20261116-093012-V1StGXR8a0-1.pdf': writeReport(),
    'tool-file-20261116-093012-V1StGXR8a0-2.csv': 'quarter,sales\nQ1,3\nQ2,5\nQ3,4\nQ4,8\n',
  };
  for (const [name, bytes] of Object.entries(files)) writeFileSync(path('cmdassets', name), bytes);
  writeFileSync(path('sales.csv'), 'quarter,sales\n');
}

export const RICH = `---
title: Sales of the year
model: sonnet
servers: [charts, files]
---
# %% user
Plot the sales in [sales.csv](sales.csv), and read the result to me. Which quarter was the *best* one?

# %% assistant
<details><summary>Reasoning</summary>

\`\`\`\`reasoning
The file has four quarters. A bar chart shows them best; then one sentence about the largest.
\`\`\`\`

</details>

I’ll draw it as bars.

\`\`\`tool_call charts.bar c1
{"title": "Sales by quarter", "values": [3, 5, 4, 8], "labels": ["Q1", "Q2", "Q3", "Q4"], "style": "bars"}
\`\`\`

\`\`\`tool_call files.read c2
{"path": "sales.csv"}
\`\`\`

# %% tool charts.bar c1
Here is the chart:

![Tool generated image 1](cmdassets/tool-image-20261116-093012-V1StGXR8a0-1.png)

[Tool generated audio 1](cmdassets/tool-audio-20261116-093012-V1StGXR8a0-1.wav)

[Tool generated file 1: quarterly.pdf](cmdassets/tool-file-20261116-093012-V1StGXR8a0-1.pdf)

[Tool generated file 2: quarters.csv](cmdassets/tool-file-20261116-093012-V1StGXR8a0-2.csv)

> ⚠ Block 5 was not saved: its data is not valid base64.

# %% tool files.read c2
\`\`\`
${Array.from({ length: 30 }, (_, row) => `2026-${String(row + 1).padStart(3, '0')},${(row * 37) % 11}`).join('\n')}
\`\`\`

# %% assistant
The **fourth quarter** is the best one, with 8. To compute the growth yourself:

\`\`\`python
def growth(sales: list[float]) -> list[float]:
    """How much each quarter gained on the one before it."""
    return [b / a - 1 for a, b in zip(sales, sales[1:])]
\`\`\`

| quarter | sales |
|---|---|
| Q3 | 4 |
| Q4 | 8 |

and then
<!-- filechat:interrupted the connection was lost -->

# %% user
`;

/** What loads something wherever it is shown; `kind` tells where it came from. */
export function hostileText(host: string): string {
  const url = `https://${host}/a`;
  const plain = `http://${host}/a`;
  return `![a](${url}.png) ![a](${plain}.png) ![a](//${host}/a.png) ![a][ref] <img src="${url}.png"> <img srcset="${url}.png 2x">
<img src="ht\ttps://${host}/a.png"> <img src="&#104;ttps://${host}/a.png"> <img src="x.png" style="background:url(${url}.png)">

[ref]: ${url}.png

<video autoplay poster="${url}.png" src="${url}.mp4"></video>

<audio autoplay src="${url}.mp3"></audio>

[sound](${url}.mp3) [film](//${host}/a.mp4)

<style>@import "${url}.css"; body { background: url(${url}.png) }</style>

<link rel="stylesheet" href="${url}.css">

<!--><link rel="stylesheet" href="${url}.css"> -->

<!-- --!><img src="${url}.png"> -->

<link rel="preconnect" href="https://${host}">

<base href="https://${host}/">

<meta http-equiv="refresh" content="0;url=${url}">

<script src="${url}.js"></script>

<iframe src="${url}"></iframe>

<object data="${url}.svg"></object>

<table background="${url}.png"><tr><td>x</td></tr></table>

<svg xmlns="http://www.w3.org/2000/svg"><image href="${url}.png"/><use href="${url}.svg#a"/></svg>

![drawing](evil.svg)

![drawing](data:image/svg+xml;utf8,<svg/onload=fetch('${url}')>)

\`\`\`mermaid
flowchart LR
  A@{ img: "${url}.png", label: "x" } --> B["<img src='${url}.png'>"]
\`\`\`

:::mermaid
flowchart LR
  A["<img src='${url}.png'>"]
:::

$$\\includegraphics{${url}.png}$$
`;
}

export function hostileSvg(host: string): string {
  const url = `https://${host}/a`;
  return `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink" width="10" height="10"><style>@import "${url}.css"; rect { fill: url(${url}.svg#x) }</style><image xlink:href="${url}.png" width="9" height="9"/><script href="${url}.js"/><rect width="9" height="9"/></svg>`;
}

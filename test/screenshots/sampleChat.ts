/** A chat for screenshots, with real results of the sample server and their files. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '../host/process.ts';
import { checkout, type Workspace } from '../host/workspace.ts';

export const SAMPLE_CHAT = 'harbour.chat.md';
/** The end of the chat. */
export const NEXT_QUESTION = 'Which month was best?';

const OPENING = `---
title: "The harbour in the third quarter"
model: harbour
---

# %% system
You are the clerk of a small harbour. Answer in a few words, and show figures as charts.

# %% user
Draw the arrivals of the quarter, and give me the report that belongs to them.

# %% assistant
I ask the tour: it draws a chart, plays a chord and writes the report.

- the **chart** is a PNG,
- the **sound** is a WAV,
- the **report** is a PDF.

\`\`\`tool_call sample.tour
{}
\`\`\`
`;

const SECOND = `
# %% assistant
Here they are. July had the most arrivals; *September* was quiet.

| month | arrivals |
|---|---|
| July | 42 |
| August | 35 |
| September | 18 |

\`\`\`ts
const total = [42, 35, 18].reduce((sum, each) => sum + each, 0);
\`\`\`

# %% user
Now only the arrivals, as bars.

\`\`\`tool_call sample.chart
{"title": "Arrivals", "values": [42, 35, 18], "labels": ["July", "August", "September"]}
\`\`\`
`;

const ENDING = `
# %% assistant
There is the chart of the arrivals alone.

# %% user
${NEXT_QUESTION}`;

/** Runs the calls with the command line. It adds an empty user turn after a result, which is removed. */
export async function writeSampleChat(workspace: Workspace): Promise<void> {
  const chat = workspace.path(SAMPLE_CHAT);
  writeFileSync(chat, OPENING);
  for (const more of [SECOND, ENDING]) {
    await runCalls(chat, workspace);
    writeFileSync(chat, `${readFileSync(chat, 'utf8').replace(/\n# %% user\s*$/, '')}${more}`);
  }
}

async function runCalls(chat: string, workspace: Workspace): Promise<void> {
  const cli = join(checkout, 'dist', 'cli.js');
  const servers = workspace.path('.vscode', 'mcp.json');
  // The next request to the model fails, because no server runs there; the result is written before.
  await runProcess(process.execPath, [cli, 'run', chat, '--servers', servers, '--approve', 'auto'], {
    timeoutMs: 60_000,
  }).catch((error: unknown) => {
    // A call that was sent has an id.
    if (/^```tool_call \S+$/m.test(readFileSync(chat, 'utf8'))) throw error;
  });
}

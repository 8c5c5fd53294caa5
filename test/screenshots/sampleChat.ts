/** A rich chat for pictures: real results of the sample server, with the files they brought. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProcess } from '../host/process.ts';
import { checkout, type Workspace } from '../host/workspace.ts';

export const SAMPLE_CHAT = 'harbour.chat.md';
/** What the chat ends with, so that typing at its end is writing on. */
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

/** Runs the calls with the command line, as a user would; a tool's result ends with an empty turn of the user. */
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
  // The next request to the model is refused, since nobody listens there; the result is written before that.
  await runProcess(process.execPath, [cli, 'run', chat, '--servers', servers, '--approve', 'auto'], {
    timeoutMs: 60_000,
  }).catch((error: unknown) => {
    // A call that has been made has got an id.
    if (/^```tool_call \S+$/m.test(readFileSync(chat, 'utf8'))) throw error;
  });
}

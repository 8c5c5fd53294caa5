export interface Row {
  readonly name: string;
  readonly version: string;
  readonly tools: number;
  readonly calls: number;
  readonly blocks: number;
  readonly lost: number;
  readonly reordered: number;
  readonly changed: number;
  readonly note: string;
  readonly differences: readonly string[];
}

export function renderTable(rows: readonly Row[]): string {
  const total = (key: 'tools' | 'calls' | 'blocks' | 'lost' | 'reordered' | 'changed') =>
    rows.reduce((sum, row) => sum + row[key], 0);
  return [
    '| Server | Version | Tools | Calls | Blocks | Lost | Reordered | Changed | Note |',
    '|---|---|-:|-:|-:|-:|-:|-:|---|',
    ...rows.map(
      ({ name, version, tools, calls, blocks, lost, reordered, changed, note }) =>
        `| ${[`\`${name}\``, version, tools, calls, blocks, lost, reordered, changed, note.replaceAll('|', '\\|')].join(' | ')} |`,
    ),
    `| **${rows.length} servers** | | ${[total('tools'), total('calls'), total('blocks'), total('lost'), total('reordered'), total('changed')].join(' | ')} | |`,
  ].join('\n');
}

export const HEADING = '## Tested servers';

export function renderSection(rows: readonly Row[]): string {
  return `${HEADING}

\`npm run servers\` installs these servers from npm at fixed versions, starts them behind a proxy that records the raw results, calls their tools, and compares each result with the turn and the files that Filechat writes: every block in its place, every text and every byte the same. There are four intended differences: terminal colors are removed, line endings become \`\\n\`, JSON is laid out, and a text that is a data URL becomes a file. Some calls are wrong on purpose, because error results are compared too. Tools that need the internet are not called.

${renderTable(rows)}

\`npm run servers -- WORD\` tests some of the servers, and \`npm run servers -- --write\` updates this section. The servers and the arguments of their tools are in \`test/servers/servers.ts\`.
`;
}

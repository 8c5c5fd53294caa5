import { renderMarker } from '../../../src/chat/format/chat.ts';

const WORDS =
  'the chart shows that sales of the northern region rose while costs fell so we should look at each month and ask “why”'.split(
    ' ',
  );

/** Questions, replies with lists and code, calls and their results; 1 KB per turn. */
export function makeChat(turns: number): string {
  const parts: string[] = [];
  for (let at = 0; at < turns - 1; at += 1) parts.push(makeTurn(at));
  parts.push(`${renderMarker('user')}\nAnd what follows from all of this?\n`);
  return flatten(parts.join('\n'));
}

/** A flat string, as an editor has it. V8 flattens a concatenated string only when it is read. */
export function flatten(text: string): string {
  return Buffer.from(text, 'utf16le').toString('utf16le');
}

/** About 1,000 characters of Markdown as models write it. */
export function makeReply(seed: number): string {
  return [
    sentence(seed, 40),
    `## Step ${seed}`,
    Array.from({ length: 4 }, (_, at) => `- **${at + 1}.** ${sentence(seed + at, 12)}`).join('\n'),
    `\`\`\`ts\nfunction step${seed}(months: readonly number[]): number {\n  return months.reduce((sum, each) => sum + each, ${seed});\n}\n\`\`\``,
    sentence(seed + 7, 70),
  ].join('\n\n');
}

function makeTurn(at: number): string {
  const id = `c${(at >> 2) + 1}`;
  switch (at % 4) {
    case 0:
      return `${renderMarker('user')}\n${sentence(at, 190)}\n`;
    case 1: {
      const call = `\`\`\`tool_call charts.bar ${id}\n{\n  "title": ${JSON.stringify(sentence(at, 8))},\n  "values": [1, 2, ${at}]\n}\n\`\`\``;
      return `${renderMarker('assistant')}\n${makeReply(at)}\n\n${call}\n`;
    }
    case 2:
      return `${renderMarker('tool', `charts.bar ${id}`)}\n\`\`\`\n${rows(at)}\n\`\`\`\n`;
    default:
      return `${renderMarker('assistant')}\n${makeReply(at)}\n`;
  }
}

function rows(seed: number): string {
  return Array.from({ length: 32 }, (_, at) => `${seed + at}, ${sentence(seed * at, 5)}`).join('\n');
}

function sentence(seed: number, words: number): string {
  const chosen = Array.from(
    { length: words },
    (_, at) => WORDS[(seed * 7 + at * 5 + (at >> 2)) % WORDS.length],
  );
  return `${chosen.join(' ')}.`;
}

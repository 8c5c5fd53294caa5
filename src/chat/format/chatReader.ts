import { type Chat, type KnownStart, parseChat } from './parse.ts';

/** How much is compared at once. The engine compares whole strings many times faster than `startsWith` or a loop. */
const COMPARED_CHARS = 1 << 16;

/**
 * Reads a chat again and again while it is edited. It gives what `parseChat` gives, but only the turns from the
 * edited one on are parsed anew.
 */
export class ChatReader {
  #text = '';
  #chat: Chat = parseChat('');

  read(text: string): Chat {
    if (text === this.#text) return this.#chat;
    this.#chat = parseChat(text, this.#knownStart(text));
    this.#text = text;
    return this.#chat;
  }

  #knownStart(text: string): KnownStart | undefined {
    const { turns, problems, ...chat } = this.#chat;
    // Front matter that is still open would be closed by any later line of dashes.
    if (chat.frontMatter === undefined && this.#text.startsWith('---')) return undefined;
    const at = this.#firstToParse(samePrefix(this.#text, text));
    const end = turns[at]?.start;
    if (end === undefined) return undefined;
    const known = {
      ...chat,
      turns: turns.slice(0, at),
      problems: problems.filter(({ offset }) => offset < end),
    };
    return { chat: known, end };
  }

  /**
   * The last turn whose marker line is unchanged. What its body is depends on nothing before it, and nothing before
   * it depends on its body; but calls look at the tool turns behind them, so it is not a tool's.
   */
  #firstToParse(same: number): number {
    const { turns } = this.#chat;
    let low = 0;
    let high = turns.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((turns[middle]?.bodyStart ?? 0) <= same) low = middle + 1;
      else high = middle;
    }
    let at = low - 1;
    while (at >= 0 && !this.#beginsAfresh(at)) at -= 1;
    return at;
  }

  #beginsAfresh(at: number): boolean {
    const turn = this.#chat.turns[at];
    if (!turn || turn.role === 'tool' || turn.start === turn.bodyStart) return false;
    // A marker without a line end may become another word.
    return this.#text[turn.bodyStart - 1] === '\n';
  }
}

/** How many characters two texts have in common at their start. */
function samePrefix(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let same = 0;
  for (let size = COMPARED_CHARS; size > 0; size >>= 1) {
    while (same + size <= end && a.slice(same, same + size) === b.slice(same, same + size)) same += size;
  }
  return same;
}

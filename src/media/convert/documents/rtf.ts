const TOKEN =
  /\\u(-?\d{1,6}) ?|\\uc(\d{1,2}) ?|\\'[0-9a-f]{2}|\\[a-z]+-?\d* ?|\\[\s\S]|[{}]|[\r\n]+|[^\\{}\r\n]+/gi;

/**
 * RTF without the characters for programs that do not know Unicode: each `\u` is followed by one or more of them.
 * The library takes them for text.
 */
export function withoutFallbacks(rtf: string): string {
  const counts = [1];
  let skipped = 0;
  return rtf.replace(TOKEN, (token, unicode: string | undefined, count: string | undefined) => {
    if (unicode !== undefined) {
      skipped = counts.at(-1) ?? 1;
      return `\\u${unicode} `;
    }
    if (token === '{') counts.push(counts.at(-1) ?? 1);
    if (token === '}' && counts.length > 1) counts.pop();
    if (count !== undefined) counts[counts.length - 1] = Number(count);
    if (token === '{' || token === '}' || count !== undefined) skipped = 0;
    if (skipped === 0 || /^[\r\n]/.test(token)) return token;
    const taken = token.startsWith('\\') ? 1 : Math.min(skipped, token.length);
    skipped -= taken;
    return token.startsWith('\\') ? '' : token.slice(taken);
  });
}

import MarkdownIt from 'markdown-it';

/**
 * A preview with `$$` formulas as in VS Code: also within paragraphs, lists and quotes. An unclosed formula
 * extends to the end of the list or quote, and includes the line after it.
 */
export function newMathPreview(): InstanceType<typeof MarkdownIt> {
  const preview = new MarkdownIt({ html: true, linkify: true });
  preview.block.ruler.after(
    'blockquote',
    'formula',
    (state, first, end, silent) => {
      const words = (line: number) => state.getLines(line, line + 1, state.tShift[line] ?? 0, false).trim();
      const opening = words(first);
      if (!opening.startsWith('$$')) return false;
      if (silent) return true;
      let last = first;
      let isClosed = opening.slice(2).endsWith('$$');
      while (!isClosed) {
        last += 1;
        const isOutside = words(last) !== '' && (state.tShift[last] ?? 0) < state.blkIndent;
        if (last >= end || isOutside) break;
        isClosed = words(last).endsWith('$$');
      }
      state.line = last + 1;
      state.push('formula', 'math', 0);
      return true;
    },
    { alt: ['paragraph', 'reference', 'blockquote', 'list'] },
  );
  return preview;
}

/** Longer text is not matched; the server checks it. */
const MAX_MATCHED_CHARS = 128;
const MAX_PATTERN_CHARS = 500;
const MAX_OPEN_REPEATS = 3;
const MAX_REPEATS = 6;

/**
 * True when the pattern compiles and cannot backtrack for long: a server's pattern such as `^(a+)+$` could block the
 * editor. Rejects many harmless patterns too; those are not checked in the editor.
 */
export function isSafePattern(pattern: string): boolean {
  return (
    pattern.length <= MAX_PATTERN_CHARS && compile(pattern) !== undefined && hasBoundedBacktracking(pattern)
  );
}

/** Only for safe patterns. Text that is too long counts as a match. */
export function matchesPattern(pattern: string, text: string): boolean {
  return text.length > MAX_MATCHED_CHARS || (compile(pattern)?.test(text) ?? true);
}

function compile(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Some patterns are valid only without the flag that JSON Schema requires.
    }
  }
  return undefined;
}

// Escapes and classes are one token, so that their contents are not read as repeats or groups.
const TOKEN =
  /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|\)|[*+?]\??|\{\d+(?:,\d*)?\}\??|[\s\S]/gsu;

/** No back reference, no repeated group with choices inside, and only a few repeats. */
function hasBoundedBacktracking(pattern: string): boolean {
  // For the pattern and each open group, whether it can match a text in more than one way.
  const hasChoice = [false];
  let groupBefore = false;
  let repeats = 0;
  let openRepeats = 0;
  for (const [token] of pattern.matchAll(TOKEN)) {
    const inner = groupBefore;
    groupBefore = false;
    if (/^\\[1-9k]/.test(token)) return false;
    if (token.startsWith('(')) {
      hasChoice.push(false);
    } else if (token === ')') {
      groupBefore = hasChoice.pop() ?? false;
      hasChoice.push((hasChoice.pop() ?? false) || groupBefore);
    } else if (token === '|' || VARIABLE_REPEAT.test(token)) {
      hasChoice[hasChoice.length - 1] = true;
      repeats += token === '|' ? 0 : 1;
      openRepeats += token === '|' || token.startsWith('?') ? 0 : 1;
    }
    if (inner && REPEAT.test(token) && !token.startsWith('?')) return false;
  }
  return repeats <= MAX_REPEATS && openRepeats <= MAX_OPEN_REPEATS;
}

const REPEAT = /^(?:[*+?]|\{\d)/;
/** Excludes `{3}`, which leaves no choice. */
const VARIABLE_REPEAT = /^(?:[*+?]|\{\d+,)/;

/** Only so much text is matched against a server's pattern; longer text is the server's to judge. */
const MAX_MATCHED_CHARS = 128;
const MAX_PATTERN_CHARS = 500;
const MAX_OPEN_REPEATS = 3;
const MAX_REPEATS = 6;

/**
 * True when the pattern compiles and cannot take long: patterns come from servers, and one such as `^(a+)+$`
 * would stop the whole editor. It refuses many harmless ones too, which then simply are not checked here.
 */
export function isSafePattern(pattern: string): boolean {
  return (
    pattern.length <= MAX_PATTERN_CHARS && compile(pattern) !== undefined && hasBoundedBacktracking(pattern)
  );
}

/** For patterns that are safe. Text that is too long to be tried counts as a match. */
export function matchesPattern(pattern: string, text: string): boolean {
  return text.length > MAX_MATCHED_CHARS || (compile(pattern)?.test(text) ?? true);
}

function compile(pattern: string): RegExp | undefined {
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags);
    } catch {
      // Some patterns are valid only without the flag that JSON Schema asks for.
    }
  }
  return undefined;
}

// Escapes and classes are taken whole, so that the signs in them are not taken for repeats or groups.
const TOKEN =
  /\\.|\[(?:\\.|[^\]\\])*\]|\((?:\?(?:[:=!]|<[=!]|<\w+>))?|\)|[*+?]\??|\{\d+(?:,\d*)?\}\??|[\s\S]/gsu;

/** No back reference, no group that repeats while it has choices inside, and only a few choices in a row. */
function hasBoundedBacktracking(pattern: string): boolean {
  // For each open group, and the pattern itself, whether it can match one text in more than one way.
  const hasChoice = [false];
  let groupBefore = false;
  let repeats = 0;
  let openRepeats = 0;
  for (const [token] of pattern.matchAll(TOKEN)) {
    const inner = groupBefore;
    groupBefore = false;
    if (/^\\[1-9k]/.test(token)) {
      return false;
    }
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
    if (inner && REPEAT.test(token) && !token.startsWith('?')) {
      return false;
    }
  }
  return repeats <= MAX_REPEATS && openRepeats <= MAX_OPEN_REPEATS;
}

const REPEAT = /^(?:[*+?]|\{\d)/;
/** All but `{3}`, which leaves no choice. */
const VARIABLE_REPEAT = /^(?:[*+?]|\{\d+,)/;

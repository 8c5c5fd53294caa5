/** What stands in a result for a long string that was taken out of it on the way in. */
export function renderPlaceholder(secret: string, number: number): string {
  return `filechat-spill:${secret}:${number}`;
}

/** Finds them in a text too: a transformer may have put one there. */
export const PLACEHOLDER = /filechat-spill:[0-9a-f]{32}:[0-9]+/g;

/**
 * Ends the process as soon as nothing is left to do. Without this, Node 20.3 can use a core forever at its end: while it
 * disposes of its environment, it repeats the pending cleanup of a `FinalizationRegistry`, such as the one of `fetch`.
 */
export function exitWhenIdle(): void {
  process.once('beforeExit', (code) => process.exit(code));
}

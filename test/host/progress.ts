/** Says on stderr what takes long; stdout belongs to the tests' results. */
export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}

export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const start = performance.now();
  const result = await work();
  say(`${what} (${((performance.now() - start) / 1000).toFixed(1)} s)`);
  return result;
}

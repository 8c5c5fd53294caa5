/** How often the event loop ran meanwhile; the benchmarks measure how long each turn takes. */
export async function countTurns(work: () => Promise<unknown>): Promise<number> {
  let turns = 0;
  let done = false;
  const next = () => {
    turns += 1;
    if (!done) setImmediate(next);
  };
  setImmediate(next);
  await work();
  done = true;
  return turns;
}

import assert from 'node:assert/strict';

/** Fails if eight times the size takes much more than eight times the CPU time; a quadratic algorithm takes 64 times. */
export function assertLinear(size: number, run: (size: number) => void): void {
  const cpuMs = (of: number) => {
    const before = process.cpuUsage();
    run(of);
    return process.cpuUsage(before).user / 1000;
  };
  const small = cpuMs(size / 8);
  const large = cpuMs(size);
  assert.ok(large < 30 * small + 200, `${small} ms, then ${large} ms for eight times the size`);
}

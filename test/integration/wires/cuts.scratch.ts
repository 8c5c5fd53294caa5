import { writeFileSync } from 'node:fs';
import { startReplay } from './replay.ts';
import { readWireFiles } from './wireFile.ts';
const after: (() => unknown)[] = [];
const replay = await startReplay({ after: (f: () => unknown) => void after.push(f) } as never);
const step = Number(process.argv[2] ?? 1);
const word = process.argv[3] ?? '';
const bad: unknown[] = [];
let runs = 0;
const t0 = performance.now();
for (const wire of readWireFiles().filter((w) => w.name.includes(word))) {
  const all = Buffer.concat(wire.pieces);
  const whole = { pieces: wire.pieces, resets: wire.resets };
  const base = await replay(wire, [whole]);
  const one = async (n: number) => {
    runs += 1;
    const cut = { pieces: [all.subarray(0, n)], resets: n % 2 === 0 };
    const r = await replay(wire, [cut, whole]);
    if (r.chat !== base.chat || r.error !== base.error || r.requests > 3)
      bad.push([wire.name, n, all.subarray(Math.max(0, n - 30), n).toString(), r.requests, r.chat.slice(12), r.error, base.chat.slice(12), base.error]);
  };
  for (let n = 0; n < all.length; n += step * 12)
    await Promise.all(Array.from({ length: 12 }, (_, i) => n + i * step).filter((x) => x < all.length).map(one));
}
const cpu = process.cpuUsage();
console.log(runs, 'runs', bad.length, 'bad', (performance.now() - t0) | 0, 'ms', ((cpu.user + cpu.system) / 1000) | 0, 'ms cpu');
writeFileSync('/tmp/gen/bad.json', JSON.stringify(bad, null, 1));
process.exit(0);

import { it } from 'node:test';
import { writeFileSync } from 'node:fs';
import { startReplay } from './replay.ts';
import { readWireFiles } from './wireFile.ts';
it('x', async (t) => {
  const replay = await startReplay(t);
  const out: Record<string, unknown> = {};
  for (const wire of readWireFiles()) {
    const all = Buffer.concat(wire.pieces);
    const modes = [[all], wire.pieces, Array.from(all, (_, i) => all.subarray(i, i + 1))];
    const results: string[] = [];
    for (const pieces of modes) {
      const r = await replay(wire, [{ pieces, resets: wire.resets }]);
      results.push(JSON.stringify([r.requests, r.chat, r.error, r.usage, r.outcome.ok]));
    }
    out[wire.name] = JSON.parse(results[0]!);
    if (new Set(results).size > 1) console.log('DIFFERENT', wire.name, results.join('\n'));
  }
  writeFileSync('/tmp/gen/out.json', JSON.stringify(out, null, 1));
});

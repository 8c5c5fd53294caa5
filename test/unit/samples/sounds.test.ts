import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileTypeFromBuffer } from 'file-type';
import { encodeWav } from '../../../samples/server/encode/wav.ts';
import { renderMelody } from '../../../samples/server/melody.ts';

const notes = [
  { hertz: 440, seconds: 0.5 },
  { hertz: 330, seconds: 0.5 },
];

describe('encodeWav', () => {
  it('states its own size and gives the samples back', async () => {
    const sound = renderMelody(notes, 8000);
    const wav = Buffer.from(encodeWav(sound));
    assert.equal((await fileTypeFromBuffer(wav))?.mime, 'audio/wav');
    assert.equal(wav.readUInt32LE(4), wav.length - 8);
    assert.equal(wav.readUInt32LE(24), 8000);
    assert.equal(wav.readUInt32LE(40), 8000 * 2);
    for (const [i, sample] of sound.samples.entries()) {
      assert.ok(Math.abs(wav.readInt16LE(44 + i * 2) / 32767 - sample) < 1 / 32767);
    }
  });

  it('clips what is too loud', () => {
    const wav = Buffer.from(encodeWav({ samples: Float64Array.of(-3, 3), sampleRate: 8000 }));
    assert.deepEqual([wav.readInt16LE(44), wav.readInt16LE(46)], [-32767, 32767]);
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileTypeFromBuffer } from 'file-type';
import { encodeMp3, MP3_BAND_RATE, PAIR_CODES } from '../../../samples/server/encode/mp3.ts';
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

describe('encodeMp3', () => {
  it('is a row of whole frames after the title, as long as the sound', async () => {
    const mp3 = Buffer.from(
      encodeMp3({ title: 'Test', samples: renderMelody(notes, MP3_BAND_RATE).samples }),
    );
    assert.equal((await fileTypeFromBuffer(mp3))?.mime, 'audio/mpeg');
    assert.equal(mp3.toString('latin1', 0, 3), 'ID3');
    assert.ok(mp3.includes('Test'));
    const frames = mp3.subarray(10 + mp3.readUInt8(9));
    // A frame holds 1152 samples of 48 kHz sound, in 96 bytes at 32 kbit/s.
    assert.equal(frames.length, Math.ceil(48_000 / 1152) * 96);
    for (let at = 0; at < frames.length; at += 96) assert.equal(frames.readUInt32BE(at), 0xfffb14c0);
  });

  it('is silent where the sound is', () => {
    const mp3 = Buffer.from(encodeMp3({ title: '', samples: new Float64Array(36) }));
    const frame = mp3.subarray(-96);
    assert.ok(frame.subarray(4 + 17).every((byte) => byte === 0));
  });

  it('has a complete code for pairs of levels', () => {
    const codes = PAIR_CODES.flat();
    assert.equal(codes.length, 36);
    assert.equal(
      codes.reduce((sum, code) => sum + 2 ** -code.length, 0),
      1,
    );
    assert.ok(codes.every((code, i) => codes.every((other, j) => i === j || !other.startsWith(code))));
  });
});

export interface Sound {
  /** Mono, between -1 and 1. */
  readonly samples: Float64Array;
  readonly sampleRate: number;
}

const HEADER_BYTES = 44;
const BYTES_PER_SAMPLE = 2;
const UNCOMPRESSED = 1;
const CHANNELS = 1;

export function encodeWav({ samples, sampleRate }: Sound): Uint8Array {
  const dataBytes = samples.length * BYTES_PER_SAMPLE;
  const file = Buffer.alloc(HEADER_BYTES + dataBytes);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.length - 8, 4);
  file.write('WAVEfmt ', 8, 'latin1');
  file.writeUInt32LE(16, 16);
  file.writeUInt16LE(UNCOMPRESSED, 20);
  file.writeUInt16LE(CHANNELS, 22);
  file.writeUInt32LE(sampleRate, 24);
  file.writeUInt32LE(sampleRate * CHANNELS * BYTES_PER_SAMPLE, 28);
  file.writeUInt16LE(CHANNELS * BYTES_PER_SAMPLE, 32);
  file.writeUInt16LE(BYTES_PER_SAMPLE * 8, 34);
  file.write('data', 36, 'latin1');
  file.writeUInt32LE(dataBytes, 40);
  for (const [i, sample] of samples.entries()) {
    const clipped = Math.min(Math.max(sample, -1), 1);
    file.writeInt16LE(Math.round(clipped * 32767), HEADER_BYTES + i * BYTES_PER_SAMPLE);
  }
  return file;
}

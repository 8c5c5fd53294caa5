import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { toAudioContent } from '../../../src/content/index.ts';
import { HARMLESS, textBlock } from '../content.ts';
import { encodeWav } from '../encode/wav.ts';
import { readSampleFile } from '../files.ts';
import { renderMelody, tuneHalfTones } from '../melody.ts';

const WAV_RATE = 22_050;
const HALF_TONES_FROM_A4 = { C4: -9, D4: -7, E4: -5, F4: -4, G4: -2, A4: 0, B4: 2 };
const NOTE_NAMES = ['C4', 'D4', 'E4', 'F4', 'G4', 'A4', 'B4'] as const;
type NoteName = (typeof NOTE_NAMES)[number];

/** The steps of a major chord and its octave, in half tones. */
const ARPEGGIO = [0, 4, 7, 12];

export function playArpeggio(note: NoteName, seconds: number): Uint8Array {
  const notes = ARPEGGIO.map((step) => ({
    hertz: tuneHalfTones(HALF_TONES_FROM_A4[note] + step),
    seconds: seconds / ARPEGGIO.length,
  }));
  return encodeWav(renderMelody(notes, WAV_RATE));
}

export function registerAudioTools(server: McpServer): void {
  server.registerTool(
    'tone',
    {
      title: 'Play a chord',
      description: 'Plays the four notes of a major chord, one after the other. Returns WAV audio.',
      inputSchema: {
        seconds: z
          .number()
          .min(0.1)
          .max(10)
          .default(1)
          .describe('The duration of all four notes in seconds.'),
        note: z.enum(NOTE_NAMES).default('C4').describe('The lowest note.'),
      },
      annotations: HARMLESS,
    },
    async ({ seconds, note }) => ({
      content: [
        textBlock(`A major chord on ${note}, ${seconds} s:`),
        await toAudioContent(playArpeggio(note, seconds), 'audio/wav'),
      ],
    }),
  );

  server.registerTool(
    'jingle',
    {
      title: 'Play a jingle',
      description: 'Plays a short melody. Returns MP3 audio.',
      annotations: HARMLESS,
    },
    async () => ({ content: [await toAudioContent(readSampleFile('jingle.mp3'), 'audio/mpeg')] }),
  );
}

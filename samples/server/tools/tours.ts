import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { toAudioContent, toImageContent } from '../../../src/content/index.ts';
import { type Chart, drawChart } from '../chart.ts';
import { HARMLESS, textBlock } from '../content.ts';
import { encodePng } from '../encode/png.ts';
import { readSampleFile } from '../files.ts';
import { embedResource, REPORT } from '../resources.ts';
import { playArpeggio } from './audio.ts';

const SALES: Chart = {
  title: 'Sales by quarter',
  values: [42, 58, 51, 77],
  labels: ['Q1', 'Q2', 'Q3', 'Q4'],
  style: 'bars',
};

export function registerTourTools(server: McpServer): void {
  server.registerTool(
    'tour',
    {
      title: 'Take the tour',
      description: 'Returns text, an image, audio and a PDF in one result, in this order.',
      annotations: HARMLESS,
    },
    async () => ({
      content: [
        textBlock('One result can contain several files. First an image, a chart of the sales:'),
        await toImageContent(encodePng(drawChart(SALES)), 'image/png'),
        textBlock('Then audio, a chord in C major:'),
        await toAudioContent(playArpeggio('C4', 1.2), 'audio/wav'),
        textBlock('And a document, the report with the same figures:'),
        embedResource(REPORT),
        textBlock('Each of them is now a file in cmdassets/ beside this chat.'),
      ],
    }),
  );

  server.registerTool(
    'mixed',
    {
      title: 'Mix text and images',
      description: 'Returns text, a PNG image, text, a JPEG image and text, in this order.',
      annotations: HARMLESS,
    },
    async () => ({
      content: [
        textBlock("Here's the first generated image:"),
        await toImageContent(encodePng(drawChart({ ...SALES, style: 'line' })), 'image/png'),
        textBlock("And here's another image showing a different view:"),
        await toImageContent(readSampleFile('landscape.jpg'), 'image/jpeg'),
        textBlock('Analysis of both images...'),
      ],
    }),
  );
}

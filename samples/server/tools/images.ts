import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { toImageContent } from '../../../src/content/index.ts';
import { drawChart } from '../chart.ts';
import { HARMLESS } from '../content.ts';
import { encodePng } from '../encode/png.ts';
import { readSampleFile } from '../files.ts';

/** Beyond this, columns are too narrow for a label and the axis for its numbers. */
const MAX_VALUES = 24;
const MAX_VALUE = 1e12;

export function registerImageTools(server: McpServer): void {
  server.registerTool(
    'chart',
    {
      title: 'Draw a chart',
      description: 'Draws a bar or line chart of some values. Returns a PNG image of 640 × 400 pixels.',
      inputSchema: {
        title: z.string().describe('The title above the chart.'),
        values: z
          .array(z.number().min(-MAX_VALUE).max(MAX_VALUE))
          .min(1)
          .max(MAX_VALUES)
          .describe('The values, from left to right.'),
        labels: z
          .array(z.string())
          .optional()
          .describe('A label for each value. Without labels, the values are numbered.'),
        style: z.enum(['bars', 'line']).default('bars').describe('The style of the chart.'),
      },
      annotations: HARMLESS,
    },
    async (chart) => ({ content: [await toImageContent(encodePng(drawChart(chart)), 'image/png')] }),
  );

  server.registerTool(
    'photo',
    {
      title: 'Paint a landscape',
      description: 'Paints hills in the evening. Returns a JPEG image.',
      annotations: HARMLESS,
    },
    async () => ({ content: [await toImageContent(readSampleFile('landscape.jpg'), 'image/jpeg')] }),
  );

  server.registerTool(
    'animation',
    {
      title: 'Draw an animation',
      description: 'Draws a bouncing ball. Returns an animated GIF image.',
      annotations: HARMLESS,
    },
    async () => ({
      content: [await toImageContent(readSampleFile('bounce.gif'), 'image/gif')],
    }),
  );

  server.registerTool(
    'badge',
    {
      title: 'Draw a badge',
      description:
        'Draws three translucent discs on a transparent background. Returns a lossless WebP image.',
      annotations: HARMLESS,
    },
    async () => ({ content: [await toImageContent(readSampleFile('badge.webp'), 'image/webp')] }),
  );
}

import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { z } from 'zod';
import { HARMLESS, textBlock } from '../content.ts';

const MILD_CONDITIONS = ['sunny', 'cloudy', 'rainy', 'windy'] as const;

export function registerDataTools(server: McpServer): void {
  registerWeather(server);
  registerMeasure(server);
  registerOrder(server);
}

function registerWeather(server: McpServer): void {
  server.registerTool(
    'weather',
    {
      title: 'Invent the weather',
      description: 'Returns invented weather as structured content; the text is the same data as JSON.',
      inputSchema: { city: z.string().min(1).default('Paris').describe('The city.') },
      outputSchema: {
        city: z.string(),
        celsius: z.number(),
        humidityPercent: z.number(),
        conditions: z.enum([...MILD_CONDITIONS, 'snowy']),
      },
      annotations: HARMLESS,
    },
    ({ city }) => {
      const weather = inventWeather(city);
      return { content: [textBlock(JSON.stringify(weather))], structuredContent: weather };
    },
  );
}

/** Taken from the name alone, so that the same city always has the same weather. */
function inventWeather(city: string) {
  const seed = [...city].reduce((sum, character) => (sum * 31 + (character.codePointAt(0) ?? 0)) % 9973, 7);
  const celsius = ((seed % 350) - 50) / 10;
  const mild = MILD_CONDITIONS[seed % MILD_CONDITIONS.length] ?? 'sunny';
  return {
    city,
    celsius,
    humidityPercent: 30 + (seed % 60),
    conditions: celsius < 1 ? ('snowy' as const) : mild,
  };
}

function registerMeasure(server: McpServer): void {
  const readings = [19.8, 20.4, 21.0];
  server.registerTool(
    'measure',
    {
      title: 'Take measurements',
      description:
        'Returns a sentence as text, and structured content with numbers that are not in the sentence.',
      outputSchema: {
        unit: z.string(),
        mean: z.number(),
        readings: z.array(z.object({ at: z.string(), value: z.number() })),
      },
      annotations: HARMLESS,
    },
    () => ({
      content: [textBlock('Three readings were taken; they rise steadily.')],
      structuredContent: {
        unit: 'celsius',
        mean: 20.4,
        readings: readings.map((value, i) => ({ at: `2026-01-01T0${6 + i}:00:00Z`, value })),
      },
    }),
  );
}

function registerOrder(server: McpServer): void {
  server.registerTool(
    'order',
    {
      title: 'Order a cake',
      description: 'Pretends to order a cake. Takes arguments of all types and returns them as JSON.',
      inputSchema: {
        name: z.string().min(2).describe('The person the cake is for.'),
        flavour: z.enum(['lemon', 'chocolate', 'carrot']).describe('The flavour.'),
        gift: z.boolean().default(false).describe('Whether to wrap it as a gift.'),
        layers: z.int().min(1).max(7).describe('The number of layers.'),
        kilograms: z.number().positive().default(1.5).describe('The weight in kilograms.'),
        address: z
          .object({
            street: z.string().min(1),
            city: z.string().min(1),
            floor: z.int().optional(),
          })
          .describe('The delivery address.'),
        toppings: z.array(z.string().min(1)).max(5).default([]).describe('Up to five toppings.'),
      },
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    (order) => ({ content: [textBlock(JSON.stringify(order, null, 2))] }),
  );
}

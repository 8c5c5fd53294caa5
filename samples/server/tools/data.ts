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
      inputSchema: { city: z.string().min(1).default('Paris').describe('Whose weather to invent.') },
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
        'Returns a sentence as text, and as structured content the numbers that the sentence leaves out.',
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
      description:
        'Pretends to order a cake. It takes an argument of every kind and returns all of them as JSON.',
      inputSchema: {
        name: z.string().min(2).describe('Who the cake is for.'),
        flavour: z.enum(['lemon', 'chocolate', 'carrot']).describe('What it tastes of.'),
        gift: z.boolean().default(false).describe('Whether to wrap it.'),
        layers: z.int().min(1).max(7).describe('How many layers it has.'),
        kilograms: z.number().positive().default(1.5).describe('How heavy it is.'),
        address: z
          .object({
            street: z.string().min(1),
            city: z.string().min(1),
            floor: z.int().optional(),
          })
          .describe('Where to bring it.'),
        toppings: z.array(z.string().min(1)).max(5).default([]).describe('What to put on it.'),
      },
      annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: false },
    },
    (order) => ({ content: [textBlock(JSON.stringify(order, null, 2))] }),
  );
}

import type { ListPrice, Usage } from '../../ports/models.ts';

/** In US dollars. Undefined when the price or the usage is unknown. */
export function costOf(usage: Usage, listed: ListPrice | undefined): number | undefined {
  if (!listed || (usage.input === undefined && usage.output === undefined)) return undefined;
  const { input = 0, output = 0 } = usage;
  const price = listed.tiers?.findLast(({ above }) => input > above) ?? listed;
  const cached = Math.min(usage.cachedInput ?? 0, input);
  const written = Math.min(usage.cacheWrite ?? 0, input - cached);
  const dollars =
    (input - cached - written) * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    output * price.output;
  return dollars / 1_000_000;
}

/** `1.2k in (1.0k cached), 356 out, $0.0042`. */
export function describeUsage(usage: Usage, cost?: number): string {
  const { input, output, cachedInput = 0 } = usage;
  const cached = cachedInput > 0 ? ` (${describeCount(cachedInput)} cached)` : '';
  const parts = [
    ...(input === undefined ? [] : [`${describeCount(input)} in${cached}`]),
    ...(output === undefined ? [] : [`${describeCount(output)} out`]),
    ...(cost === undefined ? [] : [describeCost(cost)]),
  ];
  return parts.join(', ');
}

export function describeCount(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens));
  return tokens < 999_950 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function describeCost(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars >= 0.1) return `$${dollars.toFixed(2)}`;
  return dollars < 0.0001 ? '< $0.0001' : `$${dollars.toFixed(4)}`;
}

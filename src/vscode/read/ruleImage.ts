import type { Role } from '../../chat/format/marker.ts';

/**
 * What package.json says of the colours `filechat.ROLE`. A picture in the gutter cannot refer to a colour of the
 * theme, and nobody may ask the theme for one.
 */
const COLORS: Readonly<Record<Role, Readonly<Record<'dark' | 'light', string>>>> = {
  user: { dark: '#4daafc', light: '#0069cc' },
  assistant: { dark: '#5fb38a', light: '#2a7d4f' },
  tool: { dark: '#c9944b', light: '#9a6100' },
  system: { dark: '#a587c9', light: '#7447a8' },
};

/** The colour of a role's rule, with the user's `workbench.colorCustomizations`. */
export function ruleColor(role: Role, theme: 'dark' | 'light', customized: unknown): string {
  const own: unknown = isRecord(customized) ? customized[`filechat.${role}`] : undefined;
  return typeof own === 'string' && /^#[\da-f]{3,8}$/i.test(own) ? own : COLORS[role][theme];
}

/** A bar as high as its line, so that the bars of many lines are one. */
export function ruleImage(color: string): string {
  const bar = `<rect x="6" width="3" height="16" fill="${color}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" preserveAspectRatio="none">${bar}</svg>`;
  return `data:image/svg+xml;base64,${btoa(svg)}`;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}

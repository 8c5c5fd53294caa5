import { field } from '../../base/json.ts';

const MAX_ICON_CHARS = 64 * 1024;
const MAX_ICONS = 20;
/**
 * SVG is among them because most icons are SVG, and because these are shown as images only, where nothing in
 * them runs or loads. They must never be put into a page as markup.
 */
const PICTURE = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/;
const WRITTEN_SVG = /^data:image\/svg\+xml(?:;charset=utf-8|;utf8)?,/i;

/**
 * The first icon of a list that can be shown, as a data: URL in base64. Icons at other addresses are left out:
 * to load one is a request that nobody asked for.
 */
export function pickIcon(icons: unknown): string | undefined {
  if (!Array.isArray(icons)) return undefined;
  for (const icon of icons.slice(0, MAX_ICONS)) {
    const source = field(icon, 'src');
    const url = typeof source === 'string' && source.length <= MAX_ICON_CHARS ? asBase64(source) : undefined;
    if (url !== undefined && url.length <= MAX_ICON_CHARS) return url;
  }
  return undefined;
}

/** One form for all, which holds no sign that a page or a style sheet would take for its own. */
function asBase64(url: string): string | undefined {
  const [start] = WRITTEN_SVG.exec(url) ?? [];
  if (start === undefined) return PICTURE.test(url) ? url : undefined;
  try {
    const svg = decodeURIComponent(url.slice(start.length));
    return `data:image/svg+xml;base64,${Buffer.from(svg, 'utf8').toString('base64')}`;
  } catch {
    // A lone “%” makes it no URL.
    return undefined;
  }
}

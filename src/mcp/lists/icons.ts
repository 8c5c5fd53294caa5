import { field } from '../../base/json.ts';

const MAX_ICON_CHARS = 64 * 1024;
const MAX_ICONS = 20;
/** SVG is safe because icons are shown as images only, where scripts do not run. Never insert one into a page as markup. */
const BASE64_IMAGE = /^data:image\/(?:png|jpeg|webp|svg\+xml);base64,[A-Za-z0-9+/]+={0,2}$/;
const PLAIN_SVG = /^data:image\/svg\+xml(?:;charset=utf-8|;utf8)?,/i;

/** The first icon that is a data: URL, in base64. Icons at other addresses are never loaded. */
export function pickIcon(icons: unknown): string | undefined {
  if (!Array.isArray(icons)) return undefined;
  for (const icon of icons.slice(0, MAX_ICONS)) {
    const source = field(icon, 'src');
    const url = typeof source === 'string' && source.length <= MAX_ICON_CHARS ? asBase64(source) : undefined;
    if (url !== undefined && url.length <= MAX_ICON_CHARS) return url;
  }
  return undefined;
}

/** Base64 has no characters that are special in HTML or CSS. */
function asBase64(url: string): string | undefined {
  const [start] = PLAIN_SVG.exec(url) ?? [];
  if (start === undefined) return BASE64_IMAGE.test(url) ? url : undefined;
  try {
    const svg = decodeURIComponent(url.slice(start.length));
    return `data:image/svg+xml;base64,${Buffer.from(svg, 'utf8').toString('base64')}`;
  } catch {
    // A “%” that does not begin an escape.
    return undefined;
  }
}

/** Text is only ever set as text, never as HTML. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  properties: {
    readonly class?: string;
    readonly text?: string;
    readonly attributes?: Readonly<Record<string, string>>;
  } = {},
  children: readonly Node[] = [],
): HTMLElementTagNameMap[Tag] {
  const { class: className, text, attributes } = properties;
  const made = document.createElement(tag);
  if (className !== undefined) made.className = className;
  if (text !== undefined) made.textContent = text;
  for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

const ICONS = {
  image: 'M2 3h12v10H2z M2.5 11.5 6 8l3 3 2-2 2.5 2.5 M10.8 6.2h.01',
  audio:
    'M6 12V3.5l7-1.5v8.5 M6 12a2 1.7 0 1 1-4 0 2 1.7 0 0 1 4 0z M13 10.5a2 1.7 0 1 1-4 0 2 1.7 0 0 1 4 0z',
  video: 'M1.5 4h9v8h-9z M10.5 7l4-2v6l-4-2',
  pdf: 'M3.5 1.5h6l3 3v10h-9z M9.5 1.5v3h3 M5.5 8h5 M5.5 10.5h5',
  text: 'M3.5 1.5h6l3 3v10h-9z M9.5 1.5v3h3 M5.5 7h5 M5.5 9.2h5 M5.5 11.4h3',
  other: 'M3.5 1.5h6l3 3v10h-9z M9.5 1.5v3h3',
  search: 'M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9z M10.3 10.3 14 14',
  open: 'M6 3H2.5v10.5H13V10 M9 2.5h4.5V7 M13.5 2.5 7.5 8.5',
  reveal: 'M1.5 2.5h13v9h-7l-3 2.5v-2.5h-3z M4.5 5.5h7 M4.5 8.5h4',
  copyLink:
    'M7 9.2a2.6 2.6 0 0 0 3.7 0l2.4-2.4a2.6 2.6 0 0 0-3.7-3.7l-1 1 M9 6.8a2.6 2.6 0 0 0-3.7 0L2.9 9.2a2.6 2.6 0 0 0 3.7 3.7l1-1',
  copyReference: 'M5.5 4.5h8v9h-8z M3 11H2.5V2h8v.5',
  attach: 'M13 7.5 8 12.6a3.2 3.2 0 0 1-4.6-4.5l5.3-5.4a2.1 2.1 0 0 1 3 3L6.5 10.9a1 1 0 0 1-1.5-1.4L9.6 4.8',
  delete: 'M2.5 4h11 M6 4V2.5h4V4 M4 4l.7 9.5h6.6L12 4 M6.7 6.5v4.5 M9.3 6.5v4.5',
  export: 'M8 2v7.5 M5 6.5l3 3 3-3 M2.5 11v2.5h11V11',
  clear: 'M4 4l8 8 M12 4l-8 8',
  check: 'M3.5 8.5l3 3 6-7',
  play: 'M5 3l8 5-8 5z',
  pause: 'M5 3v10 M11 3v10',
} as const;

const SVG = 'http://www.w3.org/2000/svg';

export function icon(name: keyof typeof ICONS): SVGSVGElement {
  const svg = document.createElementNS(SVG, 'svg');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', `icon icon-${name}`);
  svg.setAttribute('aria-hidden', 'true');
  const path = document.createElementNS(SVG, 'path');
  path.setAttribute('d', ICONS[name]);
  svg.append(path);
  return svg;
}

export function setIcon(holder: Element, name: keyof typeof ICONS): void {
  holder.replaceChildren(icon(name));
}

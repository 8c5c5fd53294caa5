import { posix } from 'node:path';
import { strFromU8, unzipSync } from 'fflate';
import { ConversionError, type DocumentText } from '../job.ts';
import { toMarkdown } from './html.ts';
import { tagsOf } from './tags.ts';

/** The chapters of a book, in their order. */
export function readEpub(bytes: Uint8Array): DocumentText {
  const files = unzipSync(bytes);
  const textOf = (path: string) => (Object.hasOwn(files, path) ? strFromU8(files[path] as Uint8Array) : '');
  const [root] = tagsOf(textOf('META-INF/container.xml'), 'rootfile');
  const packagePath = root?.('full-path') ?? '';
  const book = textOf(packagePath);
  const items = new Map(tagsOf(book, 'item').map((item) => [item('id'), item]));
  const chapters = tagsOf(book, 'itemref').flatMap((reference) => {
    const item = items.get(reference('idref'));
    const isContents = item?.('properties')?.split(/\s+/).includes('nav');
    const href = isContents ? undefined : item?.('href');
    if (href === undefined) return [];
    const page = textOf(posix.join(posix.dirname(packagePath), decodePath(href)));
    // The title above it is often the name of the file.
    return [toMarkdown(page.slice(Math.max(0, page.search(/<body\b/i))))];
  });
  if (chapters.length === 0) throw new ConversionError('it has no chapters');
  return { sections: [{ text: chapters.filter((chapter) => chapter !== '').join('\n\n') }] };
}

function decodePath(href: string): string {
  const path = href.replaceAll('&amp;', '&').split('#')[0] ?? '';
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

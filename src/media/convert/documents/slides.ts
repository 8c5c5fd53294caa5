import { posix } from 'node:path';
import { strFromU8, strToU8, type Unzipped, unzipSync, zipSync } from 'fflate';
import { tagsOf } from './tags.ts';

/**
 * A presentation whose slides and notes are named in the order in which they are shown, and have the text of their
 * diagrams. The library goes by the names of the files, which stay as they are when a slide is moved.
 */
export function inShownOrder(bytes: Uint8Array): Uint8Array {
  const files = unzipSync(bytes);
  const targets = relationsOf(files, 'ppt/presentation.xml');
  const shown = tagsOf(textOf(files, 'ppt/presentation.xml'), 'sldId').flatMap((slide) => {
    const name = targets
      .get(slide('r:id') ?? '')
      ?.split('/')
      .at(-1);
    return name !== undefined && Object.hasOwn(files, `ppt/slides/${name}`) ? [name] : [];
  });
  if (shown.length === 0) return bytes;
  const others = Object.entries(files).filter(([path]) => !/^ppt\/(?:slides|notesSlides)\//.test(path));
  const ordered: Unzipped = Object.fromEntries(others);
  const copy = (from: string, to: string) => {
    const file = files[from];
    if (file) ordered[to] = file;
  };
  for (const [at, name] of shown.entries()) {
    const path = `ppt/slides/${name}`;
    const notes = [...relationsOf(files, path).values()].find((target) => target.includes('notesSlides/'));
    ordered[`ppt/slides/slide${at + 1}.xml`] = strToU8(withDiagrams(files, path));
    copy(relationsPath(path), relationsPath(`ppt/slides/slide${at + 1}.xml`));
    const note = `ppt/notesSlides/${notes?.split('/').at(-1)}`;
    copy(note, `ppt/notesSlides/notesSlide${at + 1}.xml`);
    copy(relationsPath(note), relationsPath(`ppt/notesSlides/notesSlide${at + 1}.xml`));
  }
  return zipSync(ordered, { level: 0 });
}

/** The text of a diagram is in a file of its own, which the library does not read. */
function withDiagrams(files: Unzipped, slide: string): string {
  const targets = relationsOf(files, slide);
  return textOf(files, slide).replace(/<p:graphicFrame\b[\s\S]*?<\/p:graphicFrame>/g, (frame) => {
    const target = targets.get(tagsOf(frame, 'relIds')[0]?.('r:dm') ?? '');
    if (target === undefined) return frame;
    const data = textOf(files, posix.resolve('/', posix.dirname(slide), target).slice(1));
    const texts = (data.match(PARAGRAPH) ?? []).filter((each) => each.includes('<a:t>'));
    return `<p:sp><p:txBody>${texts.join('')}</p:txBody></p:sp>`;
  });
}

const PARAGRAPH = /<a:p(?:\s[^>]*)?(?<!\/)>[\s\S]*?<\/a:p>/g;

/** By id. */
function relationsOf(files: Unzipped, path: string): ReadonlyMap<string, string> {
  const relations = tagsOf(textOf(files, relationsPath(path)), 'Relationship');
  return new Map(relations.map((relation) => [relation('Id') ?? '', relation('Target') ?? '']));
}

function relationsPath(path: string): string {
  return path.replace(/([^/]+)$/, '_rels/$1.rels');
}

function textOf(files: Unzipped, path: string): string {
  return Object.hasOwn(files, path) ? strFromU8(files[path] as Uint8Array) : '';
}

import { field } from '../../base/json2.ts';
import { cut } from './pages.ts';

/** What a server may say about one of its things. */
export const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 4000;

// In a chat a name is written encoded as one word; only what nobody could read is refused.
const NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** The name by which a tool, a prompt or an argument is called, or what is wrong with it. */
export function readName(definition: unknown): { readonly name: string } | string {
  const name = field(definition, 'name');
  if (typeof name !== 'string') return 'it has no name';
  return NAME.test(name)
    ? { name }
    : `its name ${JSON.stringify(name.slice(0, MAX_TITLE_CHARS))} has characters that cannot be seen, or too many`;
}

/** The title and the description, cut, where there are any. */
export function readTexts(definition: unknown): { readonly title?: string; readonly description?: string } {
  const title = field(definition, 'title') ?? field(field(definition, 'annotations'), 'title');
  const description = field(definition, 'description');
  return {
    ...(typeof title === 'string' ? { title: cut(title, MAX_TITLE_CHARS) } : {}),
    ...(typeof description === 'string' ? { description: cut(description, MAX_DESCRIPTION_CHARS) } : {}),
  };
}

import type { TextEdit } from '../../ports/document.ts';
import type { Chat } from '../format/chat.ts';
import { findLinks } from '../format/links.ts';
import { parseChat, turnAt, turnBody } from '../format/parse.ts';
import type { Region } from '../format/textEdit.ts';
import { insertIntoUserTurn } from './append.ts';
import { encodeTarget, renderFileLink } from './fileLink.ts';

interface AddressLink extends Region {
  /** Normalized. */
  readonly address: string;
  /** As written. */
  readonly label: string;
}

/** The link to a web address, not an image, at an offset in a user turn. */
export function addressAt(text: string, chat: Chat, offset: number): AddressLink | undefined {
  return addressesIn(text, turnAt(chat, offset)).find(({ start, end }) => start <= offset && offset <= end);
}

function addressesIn(text: string, turn: Chat['turns'][number] | undefined): readonly AddressLink[] {
  if (turn?.role !== 'user') return [];
  return findLinks(turnBody(text, turn)).flatMap(({ target, label, isImage, offset, end }) => {
    const address = isImage ? undefined : readAddress(target)?.href;
    const place = { start: turn.bodyStart + offset, end: turn.bodyStart + end };
    return address === undefined ? [] : [{ address, label, ...place }];
  });
}

/** Undefined for text that is not the address of a web page. `base` is the address that a relative one begins at. */
export function readAddress(text: string, base?: string): URL | undefined {
  const url = URL.canParse(text, base) ? new URL(text, base) : undefined;
  return url && /^https?:$/.test(url.protocol) ? url : undefined;
}

/**
 * Makes the links to an address, in the last user turn that has one, lead to the file that was fetched. Without such a
 * link, one is added to the user turn at the end.
 */
export function linkFetched(text: string, address: string, path: string): TextEdit | undefined {
  const links = parseChat(text)
    .turns.map((turn) => addressesIn(text, turn).filter((link) => link.address === address))
    .findLast((each) => each.length > 0);
  const target = `${encodeTarget(path)} "${address.replaceAll('\\', '%5C').replaceAll('"', '%22')}"`;
  const [first] = links ?? [];
  if (!links || !first)
    return insertIntoUserTurn(text, renderFileLink({ label: address, target, isImage: false }));
  const last = links.at(-1) ?? first;
  const written = links.map(({ label, end }, at) => {
    const between = text.slice(end, links[at + 1]?.start ?? end);
    return `[${label}](${target})${between}`;
  });
  return { start: first.start, end: last.end, text: written.join('') };
}

import { lookAt, readWhole } from '../../assets/confined.ts';
import { commentsOfChat, textOutside } from '../../chat/format/chatComments.ts';
import { CatalogRefusal, type FoundEntry } from '../entry.ts';
import { MAX_CHAT_BYTES } from '../mentions.ts';
import { type FileWindow, readWindow, type WindowRequest } from '../windows.ts';

export interface VisibleWindow {
  readonly window: FileWindow;
  /** Something is left out of it. */
  readonly isCut: boolean;
}

/** A window of a chat without its comments: whoever wrote them did not want models to see them. */
export async function readVisibleChat(found: FoundEntry, wanted: WindowRequest): Promise<VisibleWindow> {
  const window = await readWindow(found, { ...wanted, as: 'auto' });
  const { body, start, byteCount } = window;
  if (window.totalBytes > MAX_CHAT_BYTES) throw new CatalogRefusal(TOO_LONG);
  if (body.kind === 'bytes') {
    if (byteCount === 0) return { window, isCut: false };
    throw new CatalogRefusal(NOT_TEXT);
  }
  // In this encoding every byte is a character, so that places are those of the file; marks are the same in both.
  const whole = (await readChat(found)).toString('latin1');
  const piece = { start, end: start + byteCount };
  if (whole.slice(piece.start, piece.end) !== Buffer.from(body.text).toString('latin1'))
    throw new CatalogRefusal(CHANGED);
  const text = Buffer.from(textOutside(whole, piece, commentsOfChat(whole)), 'latin1').toString();
  return { window: { ...window, body: { kind: 'text', text } }, isCut: text !== body.text };
}

async function readChat({ path }: FoundEntry): Promise<Buffer> {
  try {
    return await readWhole(path, await lookAt(path));
  } catch {
    throw new CatalogRefusal(CHANGED);
  }
}

const TOO_LONG = `This chat is longer than ${MAX_CHAT_BYTES / 1_000_000} MB and is not read here.`;
const NOT_TEXT = 'This piece of the chat is not UTF-8 text.';
const CHANGED = 'The chat was changed while it was read. Read it again.';

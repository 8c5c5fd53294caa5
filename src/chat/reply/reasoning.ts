import { eachLine } from '../../base/lines.ts';
import type { ModelEvent } from '../../ports/models.ts';
import { FenceReader } from '../format/fence.ts';

/** All text of the reply so far was reasoning: only its end was marked. */
interface EarlierReasoning {
  readonly kind: 'earlierReasoning';
  readonly text: string;
}

export type ReadEvent = ModelEvent | EarlierReasoning;

const TAGS = ['think', 'thinking'];
const OPENING = new RegExp(`^<(${TAGS.join('|')})>`);
const CLOSING = new RegExp(`</(?:${TAGS.join('|')})>`, 'g');
const MAX_TAG_CHARS = Math.max(...TAGS.map((tag) => `</${tag}>`.length));
/** A tag can begin a text, and only its beginning has arrived. */
const FIRST_TAGS = TAGS.flatMap((tag) => [`<${tag}>`, `</${tag}>`]);

/**
 * Finds the reasoning that local models write into their text as `<think>…</think>`: at the start of a reply or after a
 * call, perhaps without an end. If the opening tag is missing, the text was passed on as text; then an event says so.
 */
export class InlineReasoning {
  #state: 'start' | 'reasoning' | 'text' = 'start';
  #held = '';
  #closingTag = '';
  #isBlank = true;
  /** The last event was reasoning, so that another block continues it. */
  #goesOn = false;
  /** The text of the reply, while a closing tag without an opening one counts. Its end is enough to look for tags. */
  #unopened: { readonly text: string; readonly end: string } | undefined;

  /** `mayBeUnopened` is false for a reply that continues an earlier text. */
  constructor(mayBeUnopened: boolean) {
    this.#unopened = mayBeUnopened ? { text: '', end: '' } : undefined;
  }

  read(event: ModelEvent): readonly ReadEvent[] {
    if (event.kind === 'text') return this.#push(event.text);
    if (event.kind === 'callInput' || event.kind === 'metadata') return [event];
    const held = this.end();
    this.#unopened = undefined;
    if (event.kind === 'call') this.#state = 'start';
    this.#goesOn = false;
    return [...held, event];
  }

  /** The text that was held back. */
  end(): readonly ReadEvent[] {
    const held = this.#held;
    this.#held = '';
    if (held === '') return [];
    if (this.#state === 'reasoning') return held.trim() === '' ? [] : this.#reasoning(held);
    return [{ kind: 'text', text: held }];
  }

  #push(text: string): readonly ReadEvent[] {
    if (text === '') return [];
    const all = this.#held + text;
    this.#held = '';
    switch (this.#state) {
      case 'start':
        return this.#begin(all);
      case 'reasoning':
        return this.#reason(all);
      case 'text':
        return this.#speak(all);
    }
  }

  #begin(text: string): readonly ReadEvent[] {
    const words = text.trimStart();
    const [opening, tag] = OPENING.exec(words) ?? [];
    if (opening !== undefined) {
      this.#state = 'reasoning';
      this.#closingTag = `</${tag}>`;
      this.#isBlank = true;
      this.#unopened = undefined;
      return this.#push(words.slice(opening.length));
    }
    const closing = FIRST_TAGS.find((each) => each.startsWith('</') && words.startsWith(each));
    if (closing !== undefined && this.#unopened !== undefined) {
      this.#unopened = undefined;
      return this.#push(words.slice(closing.length));
    }
    if (FIRST_TAGS.some((each) => each.startsWith(words))) {
      this.#held = text;
      return [];
    }
    this.#state = 'text';
    this.#goesOn = false;
    return this.#push(text);
  }

  #reason(text: string): readonly ReadEvent[] {
    const end = text.indexOf(this.#closingTag);
    if (end >= 0) {
      this.#state = 'start';
      const said = this.#reasoning(text.slice(0, end).trimEnd());
      return [...said, ...this.#push(text.slice(end + this.#closingTag.length))];
    }
    const kept = text.slice(0, text.length - partialEnd(text, this.#closingTag)).trimEnd().length;
    this.#held = text.slice(kept);
    return this.#reasoning(text.slice(0, kept));
  }

  #reasoning(text: string): readonly ReadEvent[] {
    const words = this.#isBlank ? text.trimStart() : text;
    if (words === '') return [];
    const gap = this.#isBlank && this.#goesOn ? '\n\n' : '';
    this.#isBlank = false;
    this.#goesOn = true;
    return [{ kind: 'reasoning', text: `${gap}${words}` }];
  }

  #speak(text: string): readonly ReadEvent[] {
    const before = this.#unopened;
    if (before === undefined) return [{ kind: 'text', text }];
    const recent = before.end + text;
    this.#unopened = { text: before.text + text, end: recent.slice(-MAX_TAG_CHARS) };
    for (const { 0: tag, index } of recent.matchAll(CLOSING)) {
      const rest = recent.slice(index + tag.length);
      // Skips a tag that an earlier call has already checked.
      if (rest.length >= text.length) continue;
      const said = this.#unopened.text.slice(0, -(rest.length + tag.length));
      if (TAGS.some((each) => said.includes(`<${each}>`))) {
        this.#unopened = undefined;
        break;
      }
      if (isInCode(said)) continue;
      this.#unopened = undefined;
      this.#state = 'start';
      this.#goesOn = true;
      const earlier = { kind: 'earlierReasoning', text: said.trim() } as const;
      return [earlier, ...this.#push(rest)];
    }
    return [{ kind: 'text', text }];
  }
}

/** The text of a whole reply without its inline reasoning. */
export function withoutInlineReasoning(text: string): string {
  const reader = new InlineReasoning(true);
  let words = '';
  for (const event of [...reader.read({ kind: 'text', text }), ...reader.end()]) {
    if (event.kind === 'text') words += event.text;
    else if (event.kind === 'earlierReasoning') words = '';
  }
  return words;
}

/** How many characters at the end of the text are the beginning of the tag. */
function partialEnd(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length -= 1) {
    if (text.endsWith(tag.slice(0, length))) return length;
  }
  return 0;
}

/** Whether the text ends inside fenced or inline code. */
function isInCode(text: string): boolean {
  const fences = new FenceReader(true);
  const last = text.slice(text.lastIndexOf('\n') + 1);
  for (const line of eachLine(text.slice(0, text.length - last.length))) fences.step(line.text);
  return fences.open !== undefined || last.split('`').length % 2 === 0;
}

/**
 * A model that continues a text thinks again before it does. Its reasoning would divide the text, perhaps in the middle
 * of a word, so it is written only if a call follows, which some providers accept only together with its reasoning.
 */
export class HeldReasoning {
  #held: ModelEvent[] | undefined;

  constructor(continuesText: boolean) {
    this.#held = continuesText ? [] : undefined;
  }

  read<Event extends { readonly kind: string }>(event: Event | ModelEvent): readonly (Event | ModelEvent)[] {
    const held = this.#held;
    if (held === undefined || event.kind === 'callInput') return [event];
    if (isOfReasoning(event, held)) {
      held.push(event);
      return [];
    }
    this.#held = undefined;
    return event.kind === 'call' ? [...held, event] : [event];
  }
}

function isOfReasoning(event: { readonly kind: string }, held: readonly ModelEvent[]): event is ModelEvent {
  if (event.kind === 'file') return 'isDraft' in event && event.isDraft === true;
  if (event.kind === 'reasoning' || event.kind === 'ownCall') return true;
  return event.kind === 'metadata' && held.length > 0;
}

import { describeBytes, type GalleryItem } from '../item.ts';
import type { Action } from '../messages.ts';
import { fillIn, type Words } from '../words.ts';
import { textButton } from './bar.ts';
import { element } from './dom.ts';

export interface FootParts {
  readonly words: Words;
  readonly canDelete: boolean;
  readonly canAttach: boolean;
  readonly onAction: (action: Action) => void;
}

export interface Counts {
  readonly all: readonly GalleryItem[];
  readonly shown: readonly GalleryItem[];
  readonly chosen: readonly GalleryItem[];
}

/** What there is and what is chosen, and what can be done with it. */
export class Foot {
  readonly element: HTMLElement;
  readonly #parts: FootParts;
  readonly #status = element('div', { class: 'status', attributes: { role: 'status' } });
  readonly #buttons = new Map<Action, HTMLButtonElement>();

  constructor(parts: FootParts) {
    this.#parts = parts;
    const { words, canDelete, canAttach, onAction } = parts;
    const actions: readonly Action[] = [
      'reveal',
      'open',
      'copyLink',
      'copyReference',
      ...(canAttach ? (['attach'] as const) : []),
      'delete',
      'export',
    ];
    for (const action of actions) {
      const made = textButton(action === 'export' ? words.exportAll : words[action], action);
      // Where there is little room its words are not shown.
      if (action !== 'export') made.setAttribute('aria-label', words[action]);
      made.addEventListener('click', () => onAction(action));
      this.#buttons.set(action, made);
    }
    const remove = this.#buttons.get('delete');
    if (remove && !canDelete) {
      remove.disabled = true;
      remove.title = words.deleteUntrusted;
    }
    const attributes = { role: 'toolbar', 'aria-label': words.actions };
    const toolbar = element('div', { class: 'actions', attributes }, [...this.#buttons.values()]);
    this.element = element('footer', {}, [this.#status, toolbar]);
  }

  show({ all, shown, chosen }: Counts): void {
    const { words } = this.#parts;
    const status = describeCounts({ all, shown, chosen }, words);
    if (this.#status.textContent !== status) this.#status.textContent = status;
    for (const [action, button] of this.#buttons) {
      button.hidden = action === 'export' ? shown.length === 0 : chosen.length === 0;
    }
    const reveal = this.#buttons.get('reveal');
    if (reveal) reveal.disabled = chosen.length !== 1 || chosen[0]?.uses.length === 0;
    const button = this.#buttons.get('export');
    const text = chosen.length > 0 ? fillIn(words.exportChosen, chosen.length) : words.exportAll;
    if (button?.lastElementChild) button.lastElementChild.textContent = text;
    if (button) button.title = text;
  }
}

function describeCounts({ all, shown, chosen }: Counts, words: Words): string {
  const [allBytes, shownBytes, chosenBytes] = [all, shown, chosen].map((items) =>
    describeBytes(items.reduce((sum, { bytes }) => sum + bytes, 0)),
  );
  const number = new Intl.NumberFormat(document.documentElement.lang || undefined);
  const say = (value: number) => number.format(value);
  if (chosen.length > 0) return fillIn(words.chosen, say(chosen.length), chosenBytes ?? '');
  if (shown.length < all.length) {
    return fillIn(words.countFiltered, say(shown.length), say(all.length), shownBytes ?? '');
  }
  if (all.length === 1) return fillIn(words.countOne, allBytes ?? '');
  return fillIn(words.count, say(all.length), allBytes ?? '');
}

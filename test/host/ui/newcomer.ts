/** Somebody at the keyboard whose interactions are counted, and the modal dialogs that stood in the way. */
import type { Locator, Page } from 'playwright-core';

/** Remembers the words of every modal dialog, however soon it is gone. */
const WATCH_MODALS = `self.modals = [];
self.modalsWatch ??= new MutationObserver((changes) => {
  for (const { addedNodes } of changes) for (const node of addedNodes) {
    const box = node instanceof Element && (node.closest('.monaco-dialog-box') ?? node.querySelector('.monaco-dialog-box'));
    if (box && !self.modalsSeen.has(box)) self.modalsSeen.add(box), self.modals.push(box);
  }
});
self.modalsSeen ??= new WeakSet();
self.modalsWatch.observe(document.body, { childList: true, subtree: true });`;

export class Newcomer {
  readonly #page: Page;
  #interactions = 0;
  readonly #kept: string[] = [];

  private constructor(page: Page) {
    this.#page = page;
  }

  static async at(page: Page): Promise<Newcomer> {
    await page.evaluate(WATCH_MODALS);
    return new Newcomer(page);
  }

  /** Since the last call of `countAnew`. */
  get interactions(): number {
    return this.#interactions;
  }

  countAnew(): void {
    this.#interactions = 0;
  }

  /** What was typed and must not be lost. */
  get kept(): readonly string[] {
    return this.#kept;
  }

  /** One interaction, however many keys it takes. */
  async does(gesture: () => Promise<unknown>): Promise<void> {
    this.#interactions += 1;
    await gesture();
  }

  /** Key by key. */
  types(text: string): Promise<void> {
    return this.does(() => this.#page.keyboard.type(text));
  }

  /** At once, as dictation does, what must not be lost: a key costs what many characters cost. */
  writes(text: string): Promise<void> {
    this.keeps(text);
    return this.does(() => this.#page.keyboard.insertText(text));
  }

  keeps(...texts: readonly string[]): void {
    this.#kept.push(...texts);
  }

  presses(...keys: readonly string[]): Promise<void> {
    return this.does(async () => {
      for (const key of keys) await this.#page.keyboard.press(key);
    });
  }

  /** Pastes into a box and accepts. */
  pastes(): Promise<void> {
    return this.presses('ControlOrMeta+V', 'Enter');
  }

  clicks(thing: Locator): Promise<void> {
    return this.does(() => thing.click());
  }

  /** The words of the modal dialogs that have been there. */
  async modals(): Promise<readonly string[]> {
    return this.#page.evaluate<string[]>('self.modals.map((box) => box.textContent)');
  }
}

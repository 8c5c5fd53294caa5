import * as vscode from 'vscode';
import { deferred } from '../../base/async.ts';
import type { Pages } from './growingPick.ts';

export interface Choice extends vscode.QuickPickItem {
  readonly text: string;
  readonly value?: unknown;
}

export type Input = (vscode.QuickPick<Choice> | vscode.InputBox) & InputControl;

interface InputControl {
  /** Returns the answer if it is valid; otherwise shows what is wrong and returns undefined. */
  accepted(): string | undefined | Promise<string | undefined>;
  /** What is typed or chosen so far, valid or not. */
  draft?(): string;
  /** Takes text that may have several lines, which a box cannot show. */
  fill?(text: string): void;
}

/** `draft` is what was typed when the user went back. */
export type Reply =
  | { readonly kind: 'answer'; readonly text: string }
  | { readonly kind: 'back'; readonly draft: string | undefined }
  | { readonly kind: 'cancel' };

/** A button that fills in text. */
export interface InputAction {
  readonly icon: string;
  readonly tooltip: string;
  /** Gets the draft. Resolves to undefined when the user cancels. */
  readonly run: (draft: string) => Promise<string | undefined>;
  /** Whether a valid text is the answer at once. */
  readonly isAnswer?: boolean;
  /** Whether the user works elsewhere meanwhile, so that the input must not cover it. */
  readonly isElsewhere?: boolean;
}

interface Buttons {
  readonly canGoBack: boolean;
  readonly actions?: readonly InputAction[];
  /** Keeps the input until the next one is shown. */
  readonly pages?: Pages | undefined;
}

/** Shows the input until it is answered, and disposes of it. */
export async function askInput(
  input: Input,
  { canGoBack, actions = [], pages }: Buttons,
  signal?: AbortSignal | undefined,
): Promise<Reply> {
  const { Back } = vscode.QuickInputButtons;
  input.ignoreFocusOut = true;
  const buttons = actions.map(({ icon, tooltip }) => ({ iconPath: new vscode.ThemeIcon(icon), tooltip }));
  input.buttons = [...(canGoBack ? [Back] : []), ...buttons];
  const { promise, resolve, reject } = deferred<Reply>();
  const accept = async () => {
    const text = await input.accepted();
    if (text !== undefined) resolve({ kind: 'answer', text });
  };
  // A dialog or an editor that an action opens hides this input, which must not count as cancelled.
  let isActing = false;
  const act = async ({ run, isAnswer, isElsewhere }: InputAction) => {
    isActing = true;
    const draft = input.draft?.() ?? input.value;
    if (isElsewhere) input.hide();
    const text = await run(draft).finally(() => {
      isActing = false;
    });
    if (signal?.aborted) return;
    if (text !== undefined) fill(input, text);
    input.show();
    if (text === undefined) return;
    if (isAnswer) await accept();
    else await input.accepted();
  };
  const cancel = () => resolve({ kind: 'cancel' });
  input.onDidTriggerButton((button) => {
    const action = actions[buttons.findIndex(({ tooltip }) => tooltip === button.tooltip)];
    if (action) act(action).catch(reject);
    else resolve({ kind: 'back', draft: input.draft?.() });
  });
  input.onDidHide(() => isActing || cancel());
  input.onDidAccept(() => void accept().catch(reject));
  input.show();
  signal?.addEventListener('abort', cancel);
  return promise.finally(() => {
    signal?.removeEventListener('abort', cancel);
    if (pages) pages.keep(input);
    else input.dispose();
  });
}

function fill(input: Input, text: string): void {
  if (input.fill) input.fill(text);
  else input.value = text;
}

/** A box that keeps the line breaks of a text until the user changes it: the box itself shows them as spaces. */
export function wholeText(box: vscode.InputBox, initial: string) {
  let whole = '';
  const fill = (text: string) => {
    whole = text;
    box.value = inOneLine(text);
  };
  fill(initial);
  return { fill, draft: () => (box.value === inOneLine(whole) ? whole : box.value) };
}

function inOneLine(text: string): string {
  return text.replace(/\r\n|[\r\n]/g, ' ');
}

import * as vscode from 'vscode';
import { deferred, untilAborted } from '../../base/async.ts';
import { describeSize } from '../../base/size.ts';
import { describeSeconds } from './elapsed.ts';

/** What is over sooner needs no telling. */
const PATIENCE_MS = 500;

/**
 * Does work that may take a while. After half a second a notification says what is done, for how long, and how much
 * has come. Its Cancel aborts the signal, and then this resolves to nothing.
 */
export async function withNotice<T>(
  message: string,
  work: (signal: AbortSignal, notice: Notice) => Promise<T>,
  { cancellable = true }: { readonly cancellable?: boolean } = {},
): Promise<T | undefined> {
  const stop = new AbortController();
  const notice = new Notice(cancellable ? () => stop.abort() : undefined);
  notice.report({ message });
  try {
    return await untilAborted(work(stop.signal, notice), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return undefined;
    throw error;
  } finally {
    notice.dispose();
  }
}

export interface Told {
  /** In words that are safe to show. */
  readonly message?: string | undefined;
  readonly percent?: number | undefined;
  readonly bytes?: number | undefined;
  /** Whether the seconds that have gone by say anything here; they do unless this says no. */
  readonly counts?: boolean | undefined;
}

/** One notification for as long as something lasts, if it lasts. */
export class Notice implements vscode.Disposable {
  readonly #cancel: (() => void) | undefined;
  readonly #closed = deferred<void>();
  readonly #clock: vscode.Disposable;
  #progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  #told: Told = {};
  #seconds = 0;
  /** What the bar shows. */
  #percent = 0;

  /** Without `cancel` it cannot be called off. */
  constructor(cancel?: () => void) {
    this.#cancel = cancel;
    this.#clock = countSeconds((seconds) => {
      this.#seconds = seconds;
      if (!this.#progress) this.#open();
      this.#show();
    });
  }

  /** What is left out stays as it was. */
  report(told: Told): void {
    this.#told = { ...this.#told, ...told };
    // Bytes come often, and the clock shows them soon.
    if (told.bytes === undefined) this.#show();
  }

  dispose(): void {
    this.#clock.dispose();
    this.#closed.resolve();
  }

  #show(): void {
    if (!this.#progress) return;
    const { message = '', percent = 0, bytes, counts = true } = this.#told;
    const parts = [
      message,
      ...(counts && this.#seconds > 0 ? [describeSeconds(this.#seconds)] : []),
      ...(bytes === undefined ? [] : [vscode.l10n.t('{0} received', describeSize(bytes))]),
    ];
    const increment = Math.max(0, Math.min(100, percent) - this.#percent);
    this.#percent += increment;
    this.#progress.report({ message: parts.join(' · '), increment });
  }

  #open(): void {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: 'Filechat',
      cancellable: this.#cancel !== undefined,
    };
    void vscode.window.withProgress(options, (progress, token) => {
      this.#progress = progress;
      this.#show();
      const cancelled = token.onCancellationRequested(() => this.#cancel?.());
      return this.#closed.promise.finally(() => cancelled.dispose());
    });
  }
}

/** Tells when patience is over, and then every second, how many seconds have gone by. */
export function countSeconds(tell: (seconds: number) => void): vscode.Disposable {
  const startedAtMs = Date.now();
  let timer: NodeJS.Timeout;
  const tick = () => {
    const elapsedMs = Date.now() - startedAtMs;
    timer = setTimeout(tick, 1000 - (elapsedMs % 1000));
    tell(Math.floor(elapsedMs / 1000));
  };
  timer = setTimeout(tick, PATIENCE_MS);
  return new vscode.Disposable(() => clearTimeout(timer));
}

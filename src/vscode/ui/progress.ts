import * as vscode from 'vscode';
import { deferred, stopwatch, untilAborted } from '../../base/async.ts';
import { describeSize } from '../../base/size.ts';
import { describeSeconds, plainMessage } from './plainMessage.ts';

const NOTICE_DELAY_MS = 500;

/**
 * After half a second, shows a notification with the elapsed time and the bytes received. Cancel aborts the signal;
 * then this resolves to undefined.
 */
export async function withNotice<T>(
  message: string,
  work: (signal: AbortSignal, notice: Notice) => Promise<T>,
  { cancellable = true }: { readonly cancellable?: boolean } = {},
): Promise<T | undefined> {
  const stop = new AbortController();
  const notice = new Notice(cancellable ? () => stop.abort() : undefined);
  notice.report({ message: plainMessage(message) });
  try {
    return await untilAborted(work(stop.signal, notice), stop.signal);
  } catch (error) {
    if (stop.signal.aborted) return undefined;
    throw error;
  } finally {
    notice.dispose();
  }
}

/** The token is cancelled when the signal aborts. */
export async function withToken<T>(
  signal: AbortSignal | undefined,
  work: (token: vscode.CancellationToken) => PromiseLike<T>,
): Promise<T> {
  const source = new vscode.CancellationTokenSource();
  const cancel = () => source.cancel();
  signal?.addEventListener('abort', cancel);
  try {
    return await work(source.token);
  } finally {
    signal?.removeEventListener('abort', cancel);
    source.dispose();
  }
}

interface NoticeUpdate {
  readonly message?: string | undefined;
  readonly percent?: number | undefined;
  readonly bytes?: number | undefined;
  /** Whether to show the elapsed time; true by default. */
  readonly counts?: boolean | undefined;
}

export class Notice implements vscode.Disposable {
  readonly #cancel: (() => void) | undefined;
  readonly #closed = deferred<void>();
  readonly #clock: vscode.Disposable;
  #progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  #state: NoticeUpdate = {};
  #seconds = 0;
  #percent = 0;

  /** Without `cancel`, the notification has no Cancel button. */
  constructor(cancel?: () => void) {
    this.#cancel = cancel;
    this.#clock = countSeconds((seconds) => {
      this.#seconds = seconds;
      if (!this.#progress) this.#open();
      this.#show();
    });
  }

  /** Omitted fields keep their values. */
  report(update: NoticeUpdate): void {
    this.#state = { ...this.#state, ...update };
    // Bytes arrive often, so only the clock shows them.
    if (update.bytes === undefined) this.#show();
  }

  dispose(): void {
    this.#clock.dispose();
    this.#closed.resolve();
  }

  #show(): void {
    if (!this.#progress) return;
    const { message = '', percent = 0, bytes, counts = true } = this.#state;
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

/** Calls back after half a second, and then every second. */
export function countSeconds(onTick: (seconds: number) => void): vscode.Disposable {
  const elapsedMs = stopwatch();
  let timer: NodeJS.Timeout;
  const tick = () => {
    const ms = elapsedMs();
    timer = setTimeout(tick, 1000 - (ms % 1000));
    onTick(Math.floor(ms / 1000));
  };
  timer = setTimeout(tick, NOTICE_DELAY_MS);
  return new vscode.Disposable(() => clearTimeout(timer));
}

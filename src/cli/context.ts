import type { Command } from './usage.ts';

export interface Output {
  out(text: string): void;
  err(text: string): void;
}

export interface CliContext extends Output {
  readonly version: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
}

export type Work = Extract<Command, { kind: 'tools' | 'call' | 'run' }>;

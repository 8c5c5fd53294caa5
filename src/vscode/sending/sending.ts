import type * as vscode from 'vscode';
import type { SurfaceParts } from '../surface.ts';

/** Shows what the next request will hold. */
export class Sending implements vscode.Disposable {
  constructor(_parts: Pick<SurfaceParts, 'conversations' | 'modelCommands'>) {}

  async showBreakdown(_argument: unknown): Promise<void> {}

  dispose(): void {}
}

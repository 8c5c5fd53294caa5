import type * as vscode from 'vscode';
import type { SurfaceParts } from '../surface.ts';

/** All assets of a chat, or of the workspace, in a panel. */
export class Gallery implements vscode.Disposable {
  constructor(_parts: Pick<SurfaceParts, 'context' | 'log'>) {}

  async show(_argument: unknown): Promise<void> {}

  dispose(): void {}
}

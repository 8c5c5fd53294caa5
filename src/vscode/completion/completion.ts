import * as vscode from 'vscode';
import type { SurfaceParts } from '../surface.ts';

/** What can be written at the cursor. */
export function registerCompletion(_parts: Pick<SurfaceParts, 'known' | 'models'>): vscode.Disposable {
  return vscode.Disposable.from();
}

import * as vscode from 'vscode';
import type { SurfaceParts } from './surface.ts';

/** What stands behind an asset link or the name of a tool, shown at the pointer. */
export function registerHovers(_parts: Pick<SurfaceParts, 'known'>): vscode.Disposable {
  return vscode.Disposable.from();
}

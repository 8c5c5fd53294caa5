import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { PreviewedDocument, PreviewOptions } from '../../views/preview/options.ts';

/** Loaded at activation, so it stays small. */
export function previewOptions(): PreviewOptions {
  return {
    words: {
      locale: vscode.env.language,
      you: vscode.l10n.t('You'),
      assistant: vscode.l10n.t('Assistant'),
      tool: vscode.l10n.t('Tool'),
      system: vscode.l10n.t('System'),
      reasoning: vscode.l10n.t('Reasoning'),
      copy: vscode.l10n.t('Copy code'),
      copied: vscode.l10n.t('Copied'),
      image: vscode.l10n.t('Image'),
      openImage: vscode.l10n.t('Show larger'),
      close: vscode.l10n.t('Close'),
      model: vscode.l10n.t('Model'),
      servers: vscode.l10n.t('Servers'),
      writing: vscode.l10n.t('Writing…'),
      unfinishedCall: vscode.l10n.t('not finished'),
      notLoaded: vscode.l10n.t('not loaded: it is on the internet'),
      generated: (kind, number) => GENERATED[kind](number),
      interrupted: (reason) =>
        reason === 'stopped' ? vscode.l10n.t('Stopped') : vscode.l10n.t('Interrupted: {0}', reason),
      lines: (count) => vscode.l10n.t('{0} lines', count),
    },
    sizeOf: rememberSizes(),
    showsFrontMatter: () =>
      vscode.workspace.getConfiguration('markdown').get('preview.frontMatter') !== 'hide',
  };
}

const GENERATED = {
  image: (number: number) => vscode.l10n.t('Image {0}', number),
  audio: (number: number) => vscode.l10n.t('Audio {0}', number),
  file: (number: number) => vscode.l10n.t('File {0}', number),
};

/** Enough for every asset of a large chat. */
const MAX_SIZES = 2000;

/** The preview is rendered while the user types, and assets do not change once they are written. */
function rememberSizes(): NonNullable<PreviewOptions['sizeOf']> {
  const sizes = new Map<string, number>();
  return (document, href) => {
    const path = assetPath(document, href);
    if (path === undefined) return undefined;
    const known = sizes.get(path);
    if (known !== undefined) return known;
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found?.isFile()) return undefined;
    if (sizes.size >= MAX_SIZES) sizes.clear();
    sizes.set(path, found.size);
    return found.size;
  };
}

/** Only files directly in `cmdassets/`. */
function assetPath(document: PreviewedDocument, href: string): string | undefined {
  const name = /^(?:\.\/)?cmdassets\/([\w.-]+)$/.exec(href)?.[1];
  if (name === undefined || !(document instanceof vscode.Uri) || document.scheme !== 'file') return undefined;
  return join(dirname(document.fsPath), 'cmdassets', name);
}

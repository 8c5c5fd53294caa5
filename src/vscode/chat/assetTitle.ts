import * as vscode from 'vscode';
import { titleOfAsset } from '../../chat/outline/assetLabel.ts';
import type { AssetUse } from '../../chat/outline/references.ts';

/** What users know an asset by: “quarterly.pdf” or “Image 1 of charts.bar”; else its file name. */
export function assetTitle(fileName: string, uses: readonly AssetUse[], saved?: string): string {
  const title = titleOfAsset(fileName, uses, saved);
  if (!title) return fileName;
  if (title.kind === 'named') return title.name;
  const { kind, number } = title.of;
  const { t } = vscode.l10n;
  if (title.tool === undefined) {
    const words = {
      image: t('Image {0}', number),
      audio: t('Audio {0}', number),
      file: t('File {0}', number),
    };
    return words[kind];
  }
  const words = {
    image: t('Image {0} of {1}', number, title.tool),
    audio: t('Audio {0} of {1}', number, title.tool),
    file: t('File {0} of {1}', number, title.tool),
  };
  return words[kind];
}

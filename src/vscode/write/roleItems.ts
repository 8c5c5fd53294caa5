import * as vscode from 'vscode';
import { type Role, renderMarker } from '../../chat/format/marker.ts';
import type { Offer, PlaceOf } from './offer.ts';

/** The lines that begin a turn. One for the assistant is left without a line break: that one asks for the reply. */
export function roleItems({ range, place }: Offer<PlaceOf<'role'>>): vscode.CompletionItem[] {
  const abouts: readonly (readonly [Role, string])[] = [
    ['user', vscode.l10n.t('What you say')],
    ['assistant', vscode.l10n.t('What the model says; Enter asks it')],
    ['system', vscode.l10n.t('What the model is told in advance')],
  ];
  return abouts.flatMap(([role, detail], at) => {
    // Who has written the whole word wants nothing but a line break.
    if (place.typed.toLowerCase() === role) return [];
    const marker = renderMarker(role);
    const item = new vscode.CompletionItem(marker, vscode.CompletionItemKind.Keyword);
    item.insertText = role === 'assistant' ? marker : `${marker}\n`;
    item.detail = detail;
    item.range = range;
    // Without its last letter, so that the whole word leaves nothing to choose, and Enter is a line break at once.
    item.filterText = marker.slice(0, -1);
    item.sortText = String(at);
    return [item];
  });
}

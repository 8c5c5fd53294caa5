import { isObject } from '../../../base/json.ts';
import type { GalleryItem } from '../item.ts';
import type { ToPage } from '../messages.ts';
import { readQuery } from '../query.ts';
import { type EditorApi, GalleryView, type PageState } from './galleryView.ts';

/** Shows nothing until the first message of the editor. */
export function startGallery(api: EditorApi): void {
  let view: GalleryView | undefined;
  const items = new Map<string, GalleryItem>();
  window.addEventListener('message', ({ data, origin }: MessageEvent<ToPage>) => {
    // Only the frame of the editor may send messages.
    if (origin !== window.origin) return;
    if (data.kind === 'start') {
      const kept = readKept(api.getState(), data.scope.chat);
      view = new GalleryView({ ...data, api, items, kept });
      document.body.replaceChildren(view.element);
      view.started();
    } else if (data.kind === 'assets') {
      if (data.reset) items.clear();
      for (const item of data.put) items.set(item.id, item);
      for (const id of data.gone) items.delete(id);
      view?.itemsChanged(data.whole);
    } else view?.goTo(data.id);
  });
  api.postMessage({ kind: 'ready' });
}

/** The state of another scope does not apply. */
function readKept(state: unknown, chat: string | undefined): PageState {
  const fields = isObject(state) ? state : {};
  if (fields['chat'] !== chat) return { query: readQuery(undefined), chosen: [], top: 0 };
  const { active, chosen, top } = fields;
  return {
    query: readQuery(fields['query']),
    chosen: Array.isArray(chosen) ? chosen.filter((id) => typeof id === 'string') : [],
    top: typeof top === 'number' ? top : 0,
    ...(typeof active === 'string' ? { active } : {}),
  };
}

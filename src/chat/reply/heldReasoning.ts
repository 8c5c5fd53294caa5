import type { ModelEvent } from '../../ports/models.ts';

/**
 * A model that continues a text thinks again before it does. Its reasoning would divide the text, perhaps in the middle
 * of a word, so it is written only if a call follows, which some providers accept only together with its reasoning.
 */
export class HeldReasoning {
  #held: ModelEvent[] | undefined;

  constructor(continuesText: boolean) {
    this.#held = continuesText ? [] : undefined;
  }

  read<Event extends { readonly kind: string }>(event: Event | ModelEvent): readonly (Event | ModelEvent)[] {
    const held = this.#held;
    if (held === undefined || event.kind === 'callInput') return [event];
    if (isOfReasoning(event, held)) {
      held.push(event);
      return [];
    }
    this.#held = undefined;
    return event.kind === 'call' ? [...held, event] : [event];
  }
}

function isOfReasoning(event: { readonly kind: string }, held: readonly ModelEvent[]): event is ModelEvent {
  if (event.kind === 'file') return 'isDraft' in event && event.isDraft === true;
  if (event.kind === 'reasoning' || event.kind === 'ownCall') return true;
  return event.kind === 'metadata' && held.length > 0;
}

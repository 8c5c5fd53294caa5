/** The chats whose calls are under way, by server. */
export class LiveChats {
  readonly #chats = new Map<string, string[]>();

  /** Remembers the chat until what is returned is called. */
  enter(server: string, chat: string | undefined): () => void {
    if (chat === undefined) return () => undefined;
    const chats = this.#chats.get(server) ?? [];
    this.#chats.set(server, chats);
    chats.unshift(chat);
    return () => void chats.splice(chats.indexOf(chat), 1);
  }

  /** As it is now, the latest first. */
  at(server: string): readonly string[] {
    return [...(this.#chats.get(server) ?? [])];
  }
}

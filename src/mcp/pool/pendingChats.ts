/** The chats with pending calls, by server. */
export class PendingChats {
  readonly #chats = new Map<string, string[]>();

  /** Adds a chat until the returned function is called. */
  enter(server: string, chat: string | undefined): () => void {
    if (chat === undefined) return () => undefined;
    const chats = this.#chats.get(server) ?? [];
    this.#chats.set(server, chats);
    chats.unshift(chat);
    return () => void chats.splice(chats.indexOf(chat), 1);
  }

  /** The latest first. */
  at(server: string): readonly string[] {
    return [...(this.#chats.get(server) ?? [])];
  }
}

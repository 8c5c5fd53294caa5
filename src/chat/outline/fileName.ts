/** A typed name without the ending of chats. A save dialog may have added a part of the ending, or another one. */
export function chatStem(typed: string): string {
  return typed.replace(/(?<=.)(?:\.chat)?(?:\.md)?$/i, '');
}

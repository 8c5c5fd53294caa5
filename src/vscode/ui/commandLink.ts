/** A Markdown link that runs a command. The language's own function leaves brackets alone, and one would end the link. */
export function commandLink(words: string, command: string, argument: object): string {
  const encoded = encodeURIComponent(JSON.stringify([argument]));
  return `[${words}](command:${command}?${encoded.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}

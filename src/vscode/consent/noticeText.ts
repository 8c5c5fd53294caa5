/** VS Code cuts a notification after 1,000 characters, links included, so that the answers would be lost. */
const MAX_TEXT_CHARS = 600;

interface NoticeLink {
  readonly label: string;
  readonly command: string;
}

/** The line of a notification that asks something. The message must be plain text; see `plainMessage`. */
export function renderNotice(message: string, links: readonly NoticeLink[]): string {
  const text =
    message.length > MAX_TEXT_CHARS ? `${message.slice(0, MAX_TEXT_CHARS).toWellFormed()}…` : message;
  const answers = links.map(({ label, command }) => `[${label}](command:${command})`);
  return `${text} ${answers.join(' · ')}`;
}

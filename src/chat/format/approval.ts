import type { Approval } from '../../ports.ts';

const STRICT_FIRST: readonly Approval[] = ['ask', 'auto-readonly', 'auto'];

/** What both allow. A chat says something or nothing; it can only tighten what the user has set. */
export function strictest(user: Approval, chat: Approval | undefined): Approval {
  return STRICT_FIRST.find((each) => each === user || each === chat) ?? 'ask';
}

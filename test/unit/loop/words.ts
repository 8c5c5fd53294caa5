import { parseChat } from '../../../src/chat/format/parse.ts';

export const OK = { ok: true, assets: [] };
export const CALL = (tool: string, id: string, json = '{}') =>
  `\`\`\`tool_call a.${tool} ${id}\n${json}\n\`\`\`\n`;
export const TURN = (words: string) => `\n# %% assistant\n${words}\n`;
/** The empty turn at the end of a run. */
export const NEXT = '\n# %% user\n';
export const RESULT = (tool: string, id: string, words: string) =>
  `\n# %% tool a.${tool} ${id}\n\`\`\`\n${words}\n\`\`\`\n`;
export const CURSOR = /<!-- filechat:writing [a-z0-9]+ -->/;
export const roles = (chat: string) => parseChat(chat).turns.map((turn) => turn.role);
export const bodyOf = (chat: string) => /# %% assistant\n([\s\S]*)/.exec(chat)?.[1];

import { type Translate, t as translate } from './words.ts';

/**
 * A sentence of the core in the user's language, such as the reason why a server failed. The core writes English, for
 * logs, chats and the command line. What a server or a provider itself has written stays as it is.
 */
export function localSentence(reason: string): string {
  const end = reason.endsWith('.') ? '.' : '';
  const words = reason.slice(0, reason.length - end.length);
  const local = templates(translate);
  for (const [at, pattern] of PATTERNS.entries()) {
    const found = pattern.exec(words);
    if (!found) continue;
    const place = (_: string, index: string) => localSentence(found[Number(index) + 1] ?? '');
    return (local[at] ?? '').replace(/\{(\d)\}/g, place) + end;
  }
  return reason;
}

/** Without the full stop. The first that matches is used. */
const templates = (t: Translate): readonly string[] => [
  // From runs.
  t('There is no model “{0}”. No models are configured in filechat.models; add one, or use {1}'),
  t('There is no model “{0}”. Configured models: {1}. You can also use {2}'),
  t('a name such as {0} or {1}, or tour'),
  t('there is no such file'),
  t('The model “{0}” needs an address: add it to filechat.models with a "baseUrl"'),
  t('There is no agent “{0}”. Create it as .filechat/NAME.md, or correct “agent”'),
  t('There is no interrupted reply to resume'),
  t('The model sent an empty reply'),
  t('There is nothing to summarize yet. Let the model finish its reply first'),
  t('The chat is empty: write something below “# %% user”'),
  t('It is your turn: write below “# %% user”, then run'),
  t('The reply reached the token limit'),
  t('The provider’s content filter stopped the reply'),
  t('The response ended unexpectedly'),
  t('The model reached the limit of {0} steps. Run again to continue'),
  t('The model reached the limit of 1 step. Run again to continue'),
  t('The summary reached the token limit. Nothing was changed'),
  t('The model sent an empty summary. Nothing was changed'),
  t('Could not edit the chat. Is it read-only or closed?'),
  t('A code fence at the end of the chat is never closed. Close it first'),
  t('The call {0} was changed. Run again'),
  t('This chat does not allow the tool {0}. See its front matter'),
  t('This chat does not allow the server “{0}”. See its front matter'),
  t('The tool {0} is turned off in the setting filechat.disabledTools'),
  t('The tool {0} is only for the apps of its server. No tool was called'),
  t('There is no tool “{0}”. No tool was called'),
  t('The server “{0}” has no tool “{1}”. No tool was called'),
  t('VS Code offers no model “{0}” now. Sign in to its provider, or use “Filechat: Select Model”'),
  t(
    'Filechat is not allowed to use VS Code’s model {0}. Run the chat again and choose Allow, or allow it with “Manage Language Model Access” in the Accounts menu',
  ),
  t(
    'VS Code blocked the request to {0}: {1} If a quota is used up, wait, or choose another model with “Filechat: Select Model”',
  ),
  t('VS Code no longer offers the model {0}. Choose another one with “Filechat: Select Model”'),
  t('VS Code’s model {0} failed: {1}'),
  t('{0} did not respond with a list of models. Check the baseUrl'),
  t('{0} does not list its models. Check the baseUrl'),
  t('{0} redirects to another address. Check the baseUrl'),
  t('{0} did not respond. A proxy may require a sign-in'),
  t('Line {0}: “{1}” cannot be sent: {2}. Correct the link, or write it as code'),
  t('This chat has no files to retry. The recovery folder {0} has files that it does not name: {1}'),
  t('This chat has no files to retry'),
  // From chat/format.
  t('Line {0}: {1}'),
  t('“{0}” must be text; it is ignored'),
  t('“{0}” must be {1}; it is ignored'),
  t('“{0}” must be {1}; “ask” is used'),
  t('“{0}” must be {1}; an empty list is used'),
  t('a whole number of at least 1'),
  t('a list of names'),
  t('a number from 0 to {0}'),
  t('ask, auto-readonly or auto'),
  t('off, low, medium or high'),
  t('Unknown setting “{0}”; it is ignored'),
  t('The front matter is too long'),
  t('The front matter must contain settings such as “model: NAME”'),
  t('The front matter cannot be parsed'),
  t('The front matter is not valid YAML: {0}'),
  t('A code fence in this turn is never closed'),
  t('A tool call must name its tool as SERVER.TOOL: ```tool_call SERVER.TOOL'),
  t('The first line of a tool call must contain only a name and an id'),
  t('The arguments are nested too deeply'),
  t('The arguments of a tool call must be one JSON object, such as {"title": "Sales"}'),
  t('The arguments are not valid JSON: {0}'),
  // From mcp/connection and mcp/pool.
  t('{0} Fix the cause, then run “Filechat: Restart Server”'),
  t(
    'Server {0} failed {1} times in a row. Try again in {2} s, or run “Filechat: Restart Server” now. Last error: {3}',
  ),
  t('Server {0} could not be started: {1}'),
  t('Server {0} could not be reached: {1}'),
  t('{0}. It wrote nothing to stderr; run its command in a terminal'),
  t(
    'the command {0} was not found. Install it, or set its full path in "command", and make sure that the folder {1} exists',
  ),
  t(
    'the command {0} was not found. Install it, or set its full path in "command"; its arguments belong in "args"',
  ),
  t('the command {0} was not found. Install it, or set its full path in "command"'),
  t('the command {0} cannot be executed. Check its permissions, and make sure that the folder {1} exists'),
  t('the command {0} cannot be executed. Check its permissions'),
  t('its process was ended by {0}. {1}'),
  t('its process was ended by {0}'),
  t('its process ended. {0}'),
  t('its process ended'),
  t('it exited right after connecting'),
  t('there was no response for {0} s. Raise {1} if it needs more time. {2}'),
  t('there was no response for {0} s. Raise {1} if it needs more time'),
  t('no server listens at {0}. Start it or correct "url"'),
  t('the host of {0} was not found. Correct "url"'),
  t('the host of {0} could not be looked up. Check the network'),
  t('requests to the port of {0} are not allowed. Use another port'),
  t('{0} responds, but not as an MCP server. Check the path of "url"'),
  t('{0} responded with HTTP status {1}. {2}'),
  t('It may have been restarted; try again'),
  t('It requires credentials; set them in "headers"'),
  t('It rejected the credentials; check "headers"'),
  t('The path does not exist or the session has ended; check "url" or try again'),
  t('It may use the older transport; set "type" to "sse"'),
  t('There were too many requests; wait and try again'),
  t('The server has a problem; see its log'),
  t('Check "url" and "type"'),
  t('the request to {0} failed: {1}'),
  t("{0} closed the connection. See the server's log"),
  t('{0} does not respond. Check the network'),
  // From mcp/schema/answer.ts.
  t('A value is required'),
  t('Choose one of: {0}'),
  t('Choose from: {0}'),
  t('Choose each item only once'),
  t('Choose at least {0}'),
  t('Choose at most {0}'),
  t('Answer yes or no'),
  t('Type a whole number, such as 3'),
  t('Type a number, such as 3 or 0.5'),
  t('Type a whole number'),
  t('This number is too large to be exact'),
  t('It must be at least {0}'),
  t('It must be at most {0}'),
  t('It must be more than {0}'),
  t('It must be less than {0}'),
  t('It must be a multiple of {0}'),
  t('It must have at least {0} characters'),
  t('It must have at most {0} characters'),
  t('It must have this format: {0}'),
  t('It must match the pattern {0}'),
  t('It must be a JSON object, such as: {0}'),
  t('It must be a JSON array, such as: {0}'),
  t('This is not valid JSON: {0}. Example: {1}'),
];

const PATTERNS = templates((message) => message).map(
  (message) =>
    new RegExp(`^${message.replace(/[.*+?^$()[\]\\|]/g, '\\$&').replace(/\{\d\}/g, '(.+?)')}$`, 's'),
);

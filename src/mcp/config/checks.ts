/** What the parts of a configuration must be. Values may be secrets, so no message tells one. */

const SERVER_ID = /^[A-Za-z0-9_-]+$/;
// These would be taken for something else as soon as someone uses a plain object as a map of servers.
const RESERVED_IDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function checkServerId(name: string): void {
  if (!SERVER_ID.test(name)) {
    throw new Error('its name may hold only letters, digits, "_" and "-"; rename it');
  }
  if (RESERVED_IDS.has(name)) {
    throw new Error('its name is reserved; rename it');
  }
}

export function checkNoNul(field: string, text: string): void {
  if (text.includes('\0')) {
    throw new Error(`its "${field}" holds a NUL character; remove it`);
  }
}

/** What a variable that is still in it may become is checked when it is filled in. */
export function checkUrl(text: string): void {
  if (text.startsWith('${')) return;
  // What stands behind a colon may be a port, which could not be an x.
  const filled = text.replace(/:?\$\{[^}]*\}/g, 'x');
  const protocol = URL.canParse(filled) ? new URL(filled).protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error('its "url" must be a whole address that starts with http:// or https://');
  }
}

export function checkVariableName(name: string): void {
  if (name === '' || /[=\0]/.test(name)) {
    throw new Error(`its "env" has ${JSON.stringify(name)}, which cannot be the name of a variable`);
  }
}

export function checkHeader(name: string, text: string): void {
  try {
    new Headers([[name, text]]);
  } catch {
    throw new Error(`its header ${JSON.stringify(name)} has a name or value that HTTP does not allow`);
  }
}

const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|AUTHORIZATION/i;

/** How the keys of well-known services begin. */
const SECRET_VALUE = /^(?:sk-|gh[opsu]_|github_pat_|glpat-|xox[abpr]-|AKIA|AIza|eyJ)/;

export function looksSecret(name: string, value = ''): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

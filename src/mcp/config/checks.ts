// Values may be secrets, so error messages never contain them.

const SERVER_ID = /^[A-Za-z0-9_-]+$/;
// Unsafe as keys of a plain object.
const RESERVED_IDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

export function checkServerId(name: string): void {
  if (!SERVER_ID.test(name))
    throw new Error('its name may contain only letters, digits, "_" and "-"; rename it');
  if (RESERVED_IDS.has(name)) throw new Error('its name is reserved; rename it');
}

export function checkNoNul(field: string, text: string): void {
  if (text.includes('\0')) throw new Error(`its "${field}" contains a NUL character; remove it`);
}

/** Variables in the URL are checked again when they are expanded. */
export function checkUrl(text: string): void {
  if (text.startsWith('${')) return;
  // A variable after a colon may be a port, for which "x" would be invalid.
  const filled = text.replace(/:?\$\{[^}]*\}/g, 'x');
  const protocol = URL.canParse(filled) ? new URL(filled).protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error('its "url" must be an absolute URL that starts with http:// or https://');
  }
}

export function checkVariableName(name: string): void {
  if (name === '' || /[=\0]/.test(name)) {
    throw new Error(`its "env" has ${JSON.stringify(name)}, which is not a valid variable name`);
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

/** Prefixes of the keys of well-known services. */
const SECRET_VALUE = /^(?:sk-|gh[opsu]_|github_pat_|glpat-|xox[abpr]-|AKIA|AIza|eyJ)/;

export function looksSecret(name: string, value = ''): boolean {
  return SECRET_NAME.test(name) || SECRET_VALUE.test(value);
}

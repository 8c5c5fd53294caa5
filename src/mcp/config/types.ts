import { isAbsolute, join } from 'node:path';

interface AnyServer {
  /** Names of the environment variables whose values were expanded into the configuration. */
  readonly fromEnvironment?: readonly string[];
}

export interface StdioServer extends AnyServer {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly envFile?: string;
  /** Variables of `envFile`, set by `withEnvFile`; never expanded, and merged into `env` when the server starts. */
  readonly fileVariables?: Readonly<Record<string, string>>;
}

export interface RemoteServer extends AnyServer {
  readonly kind: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthConfig;
}

/** For servers whose sign-in cannot be discovered or needs a registered client. */
export interface OAuthConfig {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
}

/** Any string may contain `${input:ID}`, so that stored and displayed configurations contain no secrets. */
export type ServerConfig = StdioServer | RemoteServer;

/** Maps every string of the configuration, except the variables of the env file. */
export function mapTexts(config: ServerConfig, map: (text: string, field: string) => string): ServerConfig {
  const list = (field: string, texts: readonly string[]) =>
    texts.map((text, at) => map(text, `${field}[${at}]`));
  // `fromEntries` also creates an own property for "__proto__".
  const record = (field: string, texts: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, map(text, `${field}.${name}`)]));
  if (config.kind === 'stdio') {
    const { command, args, env, cwd, envFile } = config;
    return {
      ...config,
      command: map(command, 'command'),
      args: list('args', args),
      env: record('env', env),
      ...(cwd !== undefined && { cwd: map(cwd, 'cwd') }),
      ...(envFile !== undefined && { envFile: map(envFile, 'envFile') }),
    };
  }
  const mapOAuth = ({ scopes, ...texts }: OAuthConfig): OAuthConfig => ({
    ...record('oauth', texts),
    ...(scopes && { scopes: list('oauth.scopes', scopes) }),
  });
  return {
    ...config,
    url: map(config.url, 'url'),
    headers: record('headers', config.headers),
    ...(config.oauth && { oauth: mapOAuth(config.oauth) }),
  };
}

// Values may be secrets, so the messages of these checks never contain them.

export function serverIdProblem(name: string): string | undefined {
  if (!/^[A-Za-z0-9_-]+$/.test(name)) {
    return 'its name may contain only letters, digits, "_" and "-"; rename it';
  }
  // Unsafe as keys of a plain object.
  const isReserved = ['__proto__', 'constructor', 'prototype'].includes(name);
  return isReserved ? 'its name is reserved; rename it' : undefined;
}

export function checkServerId(name: string): void {
  const problem = serverIdProblem(name);
  if (problem !== undefined) throw new Error(problem);
}

export function checkNoNul(text: string, field: string): void {
  if (text.includes('\0')) throw new Error(`its "${field}" contains a NUL character; remove it`);
}

/** Throws if the configuration could not be used. It may contain variables. */
export function checkConfig(config: ServerConfig): void {
  if (config.kind === 'stdio') {
    for (const name of Object.keys(config.env)) checkVariableName(name);
    if (config.envFile?.includes('${input:')) {
      throw new Error(`its "envFile" is read before inputs are asked for, so it cannot use \${input:…}`);
    }
    return;
  }
  checkUrl(config.url);
  for (const [name, text] of Object.entries(config.headers)) checkHeader(name, text);
  if (!/^https:\/\//i.test(config.oauth?.clientMetadataUrl ?? 'https://')) {
    throw new Error('its "oauth.clientMetadataUrl" must start with https://');
  }
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

/**
 * Like VS Code's own MCP client, starts programs of a workspace in its folder. A relative folder is below it, so that a
 * permission for one workspace is not one for the folder of the same name in another.
 */
export function startedIn(folder: string, config: ServerConfig): ServerConfig {
  if (config.kind !== 'stdio') return config;
  const { cwd = folder } = config;
  const isRelative = !isAbsolute(cwd) && !/^(?:\$\{|~)/.test(cwd);
  return { ...config, cwd: isRelative ? join(folder, cwd) : cwd };
}

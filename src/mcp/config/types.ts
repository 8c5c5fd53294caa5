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

interface AnyServer {
  /** The environment variables of this process whose values were put into the configuration. */
  readonly fromEnvironment?: readonly string[];
}

export interface StdioServer extends AnyServer {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** A file with more variables. */
  readonly envFile?: string;
  /** What `withEnvFile` has found there: never a template, and joined to `env` only when the server starts. */
  readonly fileVariables?: Readonly<Record<string, string>>;
}

export interface RemoteServer extends AnyServer {
  readonly kind: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly oauth?: OAuthConfig;
}

/** Who we are to a server's sign-in, where it does not find out by itself. */
export interface OAuthConfig {
  readonly clientId?: string;
  readonly clientSecret?: string;
  readonly clientMetadataUrl?: string;
  readonly scopes?: readonly string[];
}

/** Any text in it may hold `${input:ID}`, so that what is shown and remembered of it holds no secret. */
export type ServerConfig = StdioServer | RemoteServer;

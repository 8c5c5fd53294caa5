/** Why a run failed, as far as it decides what the user can do next. */
export type FailureKind =
  /** The provider does not accept the key, or there is none. */
  | 'key'
  /** The key may not be used for this model. */
  | 'access'
  /** The provider or the settings have no such model. */
  | 'model'
  | 'rateLimit'
  | 'overloaded'
  /** The account has no credit or quota left. */
  | 'credit'
  /** There was no connection. */
  | 'unreachable'
  /** The certificate of the address is not trusted. */
  | 'certificate'
  /** The connection broke before the reply ended. */
  | 'lost'
  /** The chat does not fit into the model's context. */
  | 'tooLong'
  /** The address does not use the protocol of the configured provider. */
  | 'format'
  /** The provider has a problem of its own. */
  | 'failed'
  /** The provider refused the request for another reason. */
  | 'refused'
  /** An MCP server could not be started. */
  | 'server';

export interface Failure {
  readonly kind: FailureKind;
  readonly host?: string | undefined;
  /** The address before `/messages`, `/responses` or `/chat/completions`. */
  readonly baseUrl?: string | undefined;
  /** The provider's name for the model. */
  readonly model?: string | undefined;
  /** The name of the model in the settings, or `provider/model`. */
  readonly name?: string | undefined;
  /** The provider's or the server's own words, whole, on one line, without keys. */
  readonly reason?: string | undefined;
  readonly status?: number | undefined;
  /** Of the system or of `fetch`, such as ECONNREFUSED. */
  readonly code?: string | undefined;
  /** The number of attempts, if it was given up after more than one. */
  readonly attempts?: number | undefined;
  /** The provider asks for a longer delay than a run waits. */
  readonly waitMinutes?: number | undefined;
  /** The MCP server that failed. */
  readonly server?: string | undefined;
}

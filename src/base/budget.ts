/**
 * How much of anything from outside is read: from servers, models, web pages, repositories and chats. Whatever is over
 * its budget is replaced with a message, and everything else continues. docs/security.md has the same table.
 */
export const BUDGET = {
  /** One MCP message. Long base64 is not part of it: it goes to files. Very long text does too, and is part of it. */
  messageBytes: 64 * 1024 * 1024,
  /** Its values: reading them takes longer, and more memory, than their bytes. Those that take long count ten times. */
  messageValues: 500_000,
  /** The values of a request or a notification of a server, which the SDK validates, and of the results of its own. */
  requestValues: 8000,
  /** Its keys that differ. Each takes about ten times as long to parse as a key that is repeated. */
  messageKeys: 50_000,
  /** The values of a text that is read as JSON, such as a text block or an event of a model. */
  textValues: 100_000,
  /** What a server may send of a message that is already refused, before its connection is closed. */
  droppedBytes: 1024 * 1024 * 1024,
  /** Another HTTP body: metadata and tokens of a sign-in, lists of models. After decompression. */
  bodyBytes: 8 * 1024 * 1024,
  /** The stream of one reply of a model, files included. */
  replyBytes: 512 * 1024 * 1024,
  /** One event of it; an image is one event. */
  eventChars: 32 * 1024 * 1024,
  /** The HTTP body of an error. After decompression. */
  errorBodyBytes: 256 * 1024,
  /** Pages, entries (invalid ones included) and valid items of a server's list. */
  listPages: 100,
  listEntries: 10_000,
  listItems: 1000,
  /** The values of one page of it. */
  listValues: 2_000_000,
  /** The characters of a server's list, as JSON. */
  listChars: 16 * 1024 * 1024,
  /** One JSON Schema. */
  schemaChars: 256 * 1024,
  schemaNodes: 10_000,
  schemaDepth: 64,
  /** The steps of one use of a schema: one question, one completion, one call. */
  schemaSteps: 50_000,
  /** The same for the validators, which read a schema several times for each value. */
  validatorSteps: 250_000,
  /** A configuration file: `mcp.json`, `models.json`, settings, an environment file, an agent. */
  configChars: 1024 * 1024,
  /** The front matter of a chat. Parsing YAML is slow. */
  frontMatterChars: 20_000,
  /** One result, in the chat. What is over goes to files. */
  resultChars: 200_000,
  /** The files of one result. */
  resultFiles: 10_000,
  resultBytes: 2 * 1024 * 1024 * 1024,
  /** Requests of one server that the user may decline in a row before the server is not listened to. */
  refusals: 3,
} as const;

/** The commands and options of the command line, from which both the parser and the help are made. */

/** An option without a value is a switch. */
interface OptionAbout {
  readonly value?: string;
  readonly about: string;
}

export const OPTIONS = {
  servers: {
    value: 'FILE',
    about:
      'MCP servers: { "servers": { "NAME": { "command": "…", "args": ["…"] } } }, or "url" instead of "command".',
  },
  chat: { value: 'FILE', about: 'The chat to write to. It is created if it does not exist.' },
  'allow-host': {
    value: 'HOST',
    about: 'Allow fetching from this host, such as example.com, without a question on the terminal.',
  },
  args: { value: 'JSON', about: 'The arguments as one JSON object. The default is {}.' },
  model: {
    value: 'NAME',
    about:
      'The model: a name from --models, or provider/model, such as anthropic/MODEL. The default is the model of the chat.',
  },
  models: {
    value: 'FILE',
    about: 'Models: { "models": { "NAME": { "provider": "…", "model": "…", "baseUrl": "…" } } }.',
  },
  approve: {
    value: 'ask|auto-readonly|auto',
    about: 'Whether tool calls need permission. With ask, the default, Filechat asks on the terminal.',
  },
  'max-steps': {
    value: 'N',
    about: 'The number of replies in a row after which the run stops. The default is 25.',
  },
  images: {
    value: 'auto|always|never',
    about:
      'Whether images of results are sent to the model. With auto, the default, to models that accept images; with always, also to models that have refused them before.',
  },
  root: {
    value: 'DIR',
    about:
      'Another folder whose files links and "file:" references can name, besides the folder of the chat.',
  },
  audit: {
    value: 'FILE',
    about: 'Append a line of JSON for each call: time, permission, files and outcome, without contents.',
  },
  timeout: {
    value: 'SECONDS',
    about:
      'Seconds without progress before a tool call, or the start of a server, times out. The default is 60.',
  },
  settings: {
    value: 'FILE',
    about: 'Settings as a JSON object, with or without the prefix “filechat.”. Options take precedence.',
  },
  help: { about: 'Show this help.' },
  version: { about: 'Show the version.' },
} as const satisfies Readonly<Record<string, OptionAbout>>;

export type OptionName = keyof typeof OPTIONS;

interface CommandAbout {
  readonly operands: readonly string[];
  readonly required: readonly OptionName[];
  readonly optional: readonly OptionName[];
  readonly about: string;
  readonly more?: string;
}

const EVERY_CHAT = ['root', 'audit', 'timeout', 'settings'] as const;
const REFERENCES =
  'In arguments, "asset:NAME" is a file in the cmdassets/ of the chat, and "file:PATH" is a file in the folder of the chat or in --root. The tool gets the bytes or the path, as its schema requires.';

export const COMMANDS = {
  tools: {
    operands: [],
    required: ['servers'],
    optional: ['timeout'],
    about: 'List the tools of all servers.',
  },
  call: {
    operands: ['SERVER.TOOL'],
    required: ['chat'],
    optional: ['args', 'servers', ...EVERY_CHAT],
    about: 'Call a tool, and write the call, its result and its files into a chat.',
    more: `${REFERENCES}\n\n--servers or --settings must name the server. The tools filechat.list_assets, filechat.read_asset and filechat.search_chats need neither.`,
  },
  resources: {
    operands: [],
    required: ['servers'],
    optional: ['timeout'],
    about:
      'List the resources and templates of all servers: server, URI, name, type and bytes, separated by tabs.',
  },
  read: {
    operands: ['SERVER', 'URI'],
    required: ['chat'],
    optional: ['args', 'servers', ...EVERY_CHAT],
    about: 'Read a resource into your turn of a chat, as text and links to its files.',
    more: 'With --args, URI is a template that the arguments fill in. --servers or --settings must name the server.',
  },
  run: {
    operands: ['FILE'],
    required: [],
    optional: ['model', 'models', 'servers', 'approve', 'max-steps', 'images', ...EVERY_CHAT],
    about: 'Run a chat: write the next reply, make its tool calls, and continue until it is your turn.',
    more: 'An interrupted reply is continued. Ctrl+C stops the run and leaves a valid chat; another run continues it.\n\nThese settings in the file of --settings change what is sent to the model: models (with maxTokens and reasoning), defaultModel, builtInTools, disabledTools, results.sendImagesToModel, results.maxInlineChars, results.fields and results.transformer. The front matter of the chat sets temperature, maxTokens and reasoning.',
  },
  attach: {
    operands: ['ADDRESS'],
    required: ['chat'],
    optional: ['allow-host', 'settings'],
    about:
      'Fetch an https address once, save it in cmdassets/, and make its link in your turn point to the file.',
    more: 'A run never fetches links to addresses. Without --allow-host, Filechat asks on the terminal. Redirects to other hosts, and host names that resolve to this machine or its network, are refused.',
  },
  retry: {
    operands: ['FILE'],
    required: [],
    optional: [],
    about:
      'Save the files of results that could not be saved to cmdassets/, and put their links into the chat.',
  },
} as const satisfies Readonly<Record<string, CommandAbout>>;

export type CommandName = keyof typeof COMMANDS;

export function isCommandName(name: string): name is CommandName {
  return Object.hasOwn(COMMANDS, name);
}

/** The options that a command takes, --help among them. */
export function optionsOf(name: CommandName): readonly OptionName[] {
  const { required, optional }: CommandAbout = COMMANDS[name];
  return [...required, ...optional, 'help'];
}

/** `--servers FILE` */
export function renderOption(name: OptionName): string {
  const { value }: OptionAbout = OPTIONS[name];
  return value === undefined ? `--${name}` : `--${name} ${value}`;
}

/** The help of one command, or the list of all commands. */
export function helpText(name?: CommandName): string {
  return name === undefined ? overview() : `${usageOf(name)}\n\n${details(name)}`;
}

/** The part of the help that is shown with an error. */
export function usageText(name?: CommandName): string {
  if (name === undefined) return overview();
  return `${usageOf(name)}\n\nRun “filechat ${name} --help” for the options.\n`;
}

const WIDTH = 100;

function overview(): string {
  const names = Object.keys(COMMANDS) as CommandName[];
  const commands = names.map((name) => `  ${synopsis(name)}\n${wrap(COMMANDS[name].about, 6)}`);
  return [
    `Usage:\n${commands.join('\n')}`,
    '  filechat --version\n      Show the version.',
    'Run “filechat COMMAND --help” for the options of a command.',
    ENVIRONMENT,
    EXIT_STATUS,
    '',
  ]
    .join('\n\n')
    .trimEnd()
    .concat('\n');
}

const ENVIRONMENT = `Environment:
  FILECHAT_KEY_NAME    The API key of the model NAME. Without it, ANTHROPIC_API_KEY, OPENAI_API_KEY and
                       GOOGLE_GENERATIVE_AI_API_KEY are used, each only at its provider's address.
  FILECHAT_INPUT_ID    The value of \${input:ID} in the configuration of a server.`;
const EXIT_STATUS = 'Exit status: 0 success, 1 failure (the reason is on stderr), 2 wrong usage.';

function usageOf(name: CommandName): string {
  return `Usage:\n  ${synopsis(name)}`;
}

function synopsis(name: CommandName): string {
  const { operands, required, optional }: CommandAbout = COMMANDS[name];
  const words = [
    name,
    ...operands,
    ...required.map(renderOption),
    ...(optional.length > 0 ? ['[OPTIONS]'] : []),
  ];
  return `filechat ${words.join(' ')}`;
}

function details(name: CommandName): string {
  const { about, more }: CommandAbout = COMMANDS[name];
  const options = optionsOf(name).map((each) => `  ${renderOption(each)}\n${wrap(OPTIONS[each].about, 6)}`);
  const paragraphs = [about, ...(more?.split('\n\n') ?? [])].map((text) => wrap(text, 0));
  return `${paragraphs.join('\n\n')}\n\nOptions:\n${options.join('\n')}\n`;
}

/** Breaks lines between words. */
function wrap(text: string, indent: number): string {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && indent + last.length + 1 + word.length <= WIDTH)
      lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((line) => ' '.repeat(indent) + line).join('\n');
}

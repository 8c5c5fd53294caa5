import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readCommand, UsageError } from '../../../src/cli/commandLine.ts';
import {
  COMMANDS,
  type CommandName,
  helpText,
  OPTIONS,
  optionsOf,
  usageText,
} from '../../../src/cli/help.ts';

const names = Object.keys(COMMANDS) as CommandName[];
const CALL = ['call', 'a.b', '--chat', 'a.chat.md', '--servers', 'mcp.json'];

describe('the help', () => {
  it('names all commands, and fits into a terminal', () => {
    for (const name of names) assert.match(helpText(), new RegExp(`^ {2}filechat ${name}\\b`, 'm'));
    for (const text of [helpText(), ...names.map(helpText)]) {
      assert.deepEqual(
        text.split('\n').filter((line) => line.length > 104),
        [],
      );
    }
  });

  for (const name of names) {
    it(`of ${name} describes its options, and is shown by --help, -h and help`, () => {
      for (const option of optionsOf(name))
        assert.match(helpText(name), new RegExp(`^ {2}--${option}\\b`, 'm'));
      for (const argv of [
        [name, '--help'],
        [name, '-h'],
        ['help', name],
      ])
        assert.deepEqual(readCommand(argv), { kind: 'help', about: name });
      assert.match(usageText(name), new RegExp(`Run “filechat ${name} --help”`));
    });
  }

  it('describes every option of the parser with some command', () => {
    const described = new Set([...names.flatMap(optionsOf), 'version']);
    assert.deepEqual(Object.keys(OPTIONS).sort(), [...described].sort());
  });
});

describe('wrong usage', () => {
  const wrong: Readonly<
    Record<string, readonly [argv: readonly string[], message: string, about?: CommandName]>
  > = {
    'no command': [[], 'No command was given.'],
    'an unknown command': [
      ['dance'],
      'Unknown command “dance”. The commands are tools, call, resources, read, run, attach, retry.',
    ],
    'an unknown option': [['tools', '--colour'], 'Unknown option “--colour”.', 'tools'],
    'an option of another command': [
      ['tools', '--model', 'x'],
      '“filechat tools” has no option --model.',
      'tools',
    ],
    'an option without a value': [
      ['tools', '--servers'],
      'The option --servers needs a value: --servers FILE.',
      'tools',
    ],
    'an option in place of a value': [
      ['call', 'a.b', '--servers', '--chat', 'a.chat.md'],
      'The option --servers needs a value: --servers FILE.',
      'call',
    ],
    'an empty value': [
      ['run', 'a.chat.md', '--root='],
      'The option --root needs a value: --root DIR.',
      'run',
    ],
    'a missing option': [['tools'], 'The option --servers FILE is missing.', 'tools'],
    'a missing argument': [['run'], 'The argument FILE is missing.', 'run'],
    'too many arguments': [
      ['run', 'a', 'b'],
      'Unexpected argument “b”. Quote arguments that contain spaces.',
      'run',
    ],
    'a name without a dot': [
      ['call', 'bar', '--chat', 'a.chat.md'],
      '“bar” is not the name of a tool. Use SERVER.TOOL, such as charts.bar.',
      'call',
    ],
    'arguments that are a list': [
      [...CALL, '--args', '[]'],
      'The option --args is not valid. The arguments of a tool call must be one JSON object, such as {"title": "Sales"}.',
      'call',
    ],
    'a value out of range': [
      ['run', 'a.chat.md', '--max-steps', '0'],
      'The option --max-steps must be a whole number of at least 1, not “0”.',
      'run',
    ],
  };
  for (const [what, [argv, message, about]] of Object.entries(wrong)) {
    it(`${what} is named, with the command whose usage is shown`, () => {
      assert.throws(
        () => readCommand(argv),
        (error) => error instanceof UsageError && error.message === message && error.about === about,
      );
    });
  }
});

it('arguments may be empty, begin with a dash, and follow “--”', () => {
  const call = readCommand([...CALL, '--args', '']);
  assert.ok(call.kind === 'call');
  assert.deepEqual(call.arguments, {});
  const run = readCommand(['run', '--root=--odd', '--', '-a.chat.md']);
  assert.ok(run.kind === 'run');
  assert.deepEqual([run.chat, run.root], ['-a.chat.md', '--odd']);
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import {
  allowsServer,
  allowsTool,
  type ChatSettings,
  mergeSettings,
  readSettings,
  type SettingValue,
  setFrontMatter,
} from '../../../../src/chat/format/frontMatter.ts';
import { parseChat } from '../../../../src/chat/format/parse.ts';
import { anySign } from '../../../kit/anySign.ts';
import { applyEdit } from '../../../kit/applyEdit.ts';
import { eachCase } from '../eachCase.ts';

const read = (text: string) => readSettings(parseChat(text));
const problemOffsets = (text: string) => read(text).problems.map(({ offset }) => offset);
const front = (yaml: string) => read(`---\n${yaml}\n---\n# %% user\n`);

describe('settings of a chat', () => {
  const cases: Record<string, [yaml: string, expected: ChatSettings]> = {
    nothing: ['', {}],
    'all settings': [
      'model: a/b\nagent: x\nsystem: Be terse.\nservers: [a, b]\ntools: ["a.*"]\napprove: auto\nmaxSteps: 3\n' +
        'maxTokens: 10\ntemperature: 0.5\nreasoning: off\ntitle: T',
      {
        model: 'a/b',
        agent: 'x',
        system: 'Be terse.',
        servers: ['a', 'b'],
        tools: ['a.*'],
        approve: 'auto',
        maxSteps: 3,
        maxTokens: 10,
        temperature: 0.5,
        reasoning: 'off',
        title: 'T',
      },
    ],
    'a text over several lines': ['system: |\n  a\n  b', { system: 'a\nb\n' }],
    'comments are ignored': ['# model: x\nmodel: y # z', { model: 'y' }],
    'one name is a list of one': ['servers: a', { servers: ['a'] }],
    'an empty value is ignored': ['model:\ntools:', {}],
  };
  eachCase(cases, (yaml, expected) => assert.deepEqual(front(yaml), { settings: expected, problems: [] }));

  const wrong: Record<string, [yaml: string, expected: ChatSettings, message: RegExp]> = {
    'an unknown key is ignored': ['colour: red', {}, /Unknown setting “colour”/],
    'a number is not a model': ['model: 4', {}, /“model” must be text; it is ignored/],
    'a wrong number of steps': ['maxSteps: -1', {}, /“maxSteps” must be a whole number/],
    'a temperature that is too high': ['temperature: 9', {}, /0 to 2/],
    'an invalid approval asks': [
      'approve: always',
      { approve: 'ask' },
      /“approve” must be ask, .*“ask” is used/,
    ],
    'an empty approval asks': ['approve:', { approve: 'ask' }, /“ask” is used/],
    'invalid tools allow nothing': ['tools: 5', { tools: [] }, /an empty list is used/],
    'invalid servers allow none': ['servers: [a, {b: c}]', { servers: [] }, /list of names/],
    'invalid YAML asks': ['approve: auto\nmodel: "x', { approve: 'ask', model: 'x' }, /not valid YAML/],
    'a duplicate key asks, and the first one counts': [
      'approve: auto\napprove: auto',
      { approve: 'ask' },
      /YAML/,
    ],
    'a list is not valid': ['- a\n- b', { approve: 'ask' }, /must contain settings/],
    'aliases are not followed': ['model: &a x\nagent: *a', { model: 'x' }, /“agent” must be text/],
    'a prototype is not touched': ['__proto__: {polluted: 1}', {}, /Unknown setting “__proto__”/],
    'a constructor is not touched': ['constructor: x', {}, /Unknown setting “constructor”/],
  };
  eachCase(wrong, (yaml, expected, message) => {
    const { settings, problems } = front(yaml);
    assert.deepEqual(settings, expected);
    assert.match(problems[0]?.message ?? '', message);
    assert.equal((Object.prototype as Record<string, unknown>)['polluted'], undefined);
  });

  it('reports the offset in the file, with CRLF too', () => {
    const text = '---\r\nmodel: x\r\ncolour: red\r\n---\r\n# %% user\r\n';
    assert.deepEqual(problemOffsets(text), [text.indexOf('colour')]);
  });

  it('hostile YAML neither throws nor hangs', () => {
    const bomb = ['a: &a [x, x]', ...'bcdefghijklmnop'.split('').map((key) => `${key}: &${key} [*a, *a]`)];
    const texts = [
      bomb.join('\n'),
      `${'['.repeat(50_000)}`,
      `x: ${'a'.repeat(1 << 20)}`,
      '? {a: b}\n: c',
      '!!js x',
      '%YAML 9',
    ];
    for (const text of texts) front(text);
    fc.assert(fc.property(fc.string(), (yaml) => void front(yaml)));
  });
});

describe('the preamble of chat.md', () => {
  it('is settings and not a turn', () => {
    const text =
      'selectedConfig="my/config"\nmaxTokens=4000 # enough\n\n# note\nreasoningEffort=minimal\n\n# %% user\nhi\n';
    assert.deepEqual(read(text), {
      settings: { model: 'my/config', maxTokens: 4000, reasoning: 'low' },
      problems: [],
    });
    const roles = parseChat(text).turns.map((turn) => turn.role);
    assert.deepEqual(roles, ['user']);
  });

  it('the front matter takes precedence', () => {
    const text = '---\nmodel: a\n---\nselectedConfig="b"\n# %% user\n';
    assert.equal(read(text).settings.model, 'a');
  });

  it('an unknown key is reported with its offset', () => {
    const text = '---\n---\nselectedConfig=x\nmaxThinkingTokens=5\n# %% user\n';
    assert.deepEqual(problemOffsets(text), [text.indexOf('maxThinking')]);
  });
});

describe('setting one setting', () => {
  const cases: Record<string, [before: string, value: SettingValue, after: string]> = {
    'a chat without front matter gets one': ['# %% user\n', 'x', '---\nmodel: x\n---\n# %% user\n'],
    'an empty file': ['', 'x', '---\nmodel: x\n---\n'],
    'with CRLF': ['# %% user\r\n', 'x', '---\r\nmodel: x\r\n---\r\n# %% user\r\n'],
    'an empty front matter': ['---\n---\na', 'x', '---\nmodel: x\n---\na'],
    'after the others': ['---\na: 1 # c\n# d\n---\n', 'x', '---\na: 1 # c\n# d\nmodel: x\n---\n'],
    'in its place, with its comment': [
      '---\na: 1\nmodel: old   # why\nb: 2\n---\n',
      'x',
      '---\na: 1\nmodel: x   # why\nb: 2\n---\n',
    ],
    'in its place, with CRLF': [
      '---\r\nmodel: old\r\nb: 2\r\n---\r\n',
      'x',
      '---\r\nmodel: x\r\nb: 2\r\n---\r\n',
    ],
    'over an empty value': ['---\nmodel:\nb: 2\n---\n', 'x', '---\nmodel: x\nb: 2\n---\n'],
    'over a text of several lines': [
      '---\nmodel: |\n  a\n  b\nc: 2\n---\n',
      'x',
      '---\nmodel: x\nc: 2\n---\n',
    ],
    'over a list': [
      '---\nmodel:\n- a\n- b\nc: 2\n---\n',
      ['x', 'y z'],
      '---\nmodel: [x, "y z"]\nc: 2\n---\n',
    ],
    'within braces': ['---\n{a: 1}\n---\n', 'x', '---\n{model: x, a: 1}\n---\n'],
    'a value that YAML would take for another is quoted': ['', 'yes', '---\nmodel: "yes"\n---\n'],
    'a value with special characters is quoted': ['', 'a: "b" # c', '---\nmodel: "a: \\"b\\" # c"\n---\n'],
    'a number': ['', 5, '---\nmodel: 5\n---\n'],
    'above a preamble of chat.md': [
      'maxTokens=5\n# %% user\n',
      'x',
      '---\nmodel: x\n---\nmaxTokens=5\n# %% user\n',
    ],
  };
  eachCase(cases, (before, value, after) =>
    assert.equal(applyEdit(before, setFrontMatter(before, 'model', value)), after),
  );

  it('any value that is set is read back', () => {
    const yaml = fc.array(
      fc.constantFrom('model: a\n', '# c\n', 'tools: [x]\n', 'title: >\n  a\n  b\n', '\n'),
      { maxLength: 4 },
    );
    fc.assert(
      fc.property(yaml, fc.string({ minLength: 1, unit: anySign }), (lines, value) => {
        fc.pre(value.trim() !== '' && value.isWellFormed() && new Set(lines).size === lines.length);
        const before = `---\n${lines.join('')}---\n# %% user\n`;
        const after = applyEdit(before, setFrontMatter(before, 'model', value));
        assert.equal(read(after).settings.model, value, JSON.stringify(after));
      }),
    );
  });
});

describe('an agent and a chat', () => {
  it('the chat’s settings take precedence, and the restrictions of both apply', () => {
    const agent: ChatSettings = {
      model: 'a',
      title: 't',
      approve: 'ask',
      servers: ['a', 'b'],
      tools: ['a.*'],
    };
    const chat: ChatSettings = { model: 'b', approve: 'auto', servers: ['b', 'c'], tools: ['*.read'] };
    assert.deepEqual(mergeSettings(agent, chat), {
      model: 'b',
      title: 't',
      approve: 'ask',
      servers: ['b'],
      tools: ['*.read'],
      agentTools: ['a.*'],
    });
    assert.deepEqual(mergeSettings(agent, {}), agent);
    assert.deepEqual(mergeSettings({}, chat), chat);
  });

  it('the lower limit of steps applies', () => {
    const steps = (agent?: number, chat?: number) =>
      mergeSettings(
        agent === undefined ? {} : { maxSteps: agent },
        chat === undefined ? {} : { maxSteps: chat },
      ).maxSteps;
    assert.deepEqual(
      [steps(3, 9), steps(9, 3), steps(3), steps(undefined, 3), steps()],
      [3, 3, 3, 3, undefined],
    );
  });
});

describe('which tools are allowed', () => {
  const cases: Record<string, [settings: ChatSettings, allowed: string[], refused: string[]]> = {
    'all by default': [{}, ['a.b'], []],
    'of the servers only': [{ servers: ['a'] }, ['a.b'], ['b.a']],
    'by patterns': [
      { tools: ['charts.*', '*.read*'] },
      ['charts.bar', 'x.readFile'],
      ['charts2.bar', 'x.write'],
    ],
    'a star alone': [{ tools: ['*'] }, ['a.b'], []],
    'nothing by an empty list': [{ tools: [] }, [], ['a.b']],
    'a name without a star matches only itself': [{ tools: ['a.b'] }, ['a.b'], ['a.bc', 'aa.b', 'a.B']],
    'other characters are literal': [{ tools: ['a.b+?'] }, ['a.b+?'], ['a.bb']],
    'stars in the middle': [{ tools: ['a.x*y*z'] }, ['a.xyz', 'a.x1y2z'], ['a.xzy', 'a.xy']],
    'the text before and after a star does not overlap': [{ tools: ['a.xy*yz'] }, ['a.xyyz'], ['a.xyz']],
    'by the agent too': [{ tools: ['a.*'], agentTools: ['*.b'] }, ['a.b'], ['a.c', 'c.b']],
  };
  eachCase(cases, (settings, allowed, refused) => {
    const allows = (full: string) => {
      const [server = '', tool = ''] = full.split('.');
      return allowsTool(settings, { server, tool });
    };
    assert.deepEqual([...allowed, ...refused].filter(allows), allowed);
  });
});

describe('a server is allowed', () => {
  const cases: Record<string, [settings: ChatSettings, expected: boolean]> = {
    'where nothing is said': [{}, true],
    'where it is listed': [{ servers: ['docs', 'b'] }, true],
    'not where others are listed': [{ servers: ['b'] }, false],
    'where a pattern names it': [{ tools: ['docs.find', 'b.*'] }, true],
    'where a pattern can match any server': [{ tools: ['*.find'] }, true],
    'not where patterns name others': [{ tools: ['filechat.*'] }, false],
    'not where the agent names others': [{ tools: ['docs.*'], agentTools: ['b.*'] }, false],
    'not where patterns name it and it is not listed': [{ servers: [], tools: ['docs.*'] }, false],
  };
  for (const [name, [settings, expected]] of Object.entries(cases)) {
    it(name, () => assert.equal(allowsServer(settings, 'docs'), expected));
  }
});

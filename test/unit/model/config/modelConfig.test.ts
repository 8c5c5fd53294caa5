import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  findModel,
  type ModelConfig,
  readModels,
  readModelsFile,
} from '../../../../src/model/config/modelConfig.ts';

function readOne(entry: unknown): ModelConfig | string {
  const { models, problems } = readModels({ one: entry });
  return models.get('one') ?? problems.join('\n');
}

describe('an entry is read as a model', () => {
  const google = { provider: 'google', model: 'g' } as const;
  const price = { input: 1, output: 2.5, cachedInput: 0 };
  const full = {
    provider: 'openai-compatible',
    model: 'm',
    maxTokens: 100,
    reasoning: 'low',
    price,
    contextTokens: 8000,
    abilities: ['images', 'tools'],
  } as const;
  const cases: readonly (readonly [rule: string, entry: unknown, expected: Omit<ModelConfig, 'name'>])[] = [
    ['provider and model are sufficient', google, google],
    [
      'all fields',
      { ...full, baseUrl: 'http://h:1/v1/', headers: { 'X-A': 'b', 'X-N': 1 } },
      { ...full, baseUrl: 'http://h:1/v1', headers: { 'X-A': 'b', 'X-N': '1' } },
    ],
    ['null is ignored', { ...google, baseUrl: null }, google],
    ['the tour needs no model', { provider: 'tour' }, { provider: 'tour', model: 'tour' }],
  ];
  for (const [rule, entry, expected] of cases) {
    it(rule, () => assert.deepEqual(readOne(entry), { name: 'one', ...expected }));
  }
});

describe('an invalid entry is a problem with advice', () => {
  const good = { provider: 'openai', model: 'm' };
  const cases: readonly (readonly [entry: unknown, problem: RegExp])[] = [
    ['x', /must be an object with "provider" and "model"/],
    [{ model: 'm' }, /its "provider" must be one of anthropic, openai/],
    [{ provider: '__proto__', model: 'm' }, /its "provider" must be one of/],
    [{ provider: 'openai' }, /its "model" must be a string/],
    [{ provider: 'openai', model: ' ' }, /its "model" must be a string/],
    [{ provider: 'openai-compatible', model: 'm' }, /it needs a "baseUrl"/],
    [{ ...good, baseUrl: 'file:///etc/passwd' }, /its "baseUrl" must be a full URL/],
    [{ ...good, baseUrl: 'api.host/v1' }, /its "baseUrl" must be a full URL/],
    [{ ...good, baseUrl: 'https://me:secret@h/v1' }, /contains a user name or a password/],
    [{ ...good, baseUrl: 'https://h/v1/chat/completions' }, /must end before \/chat\/completions/],
    [{ ...good, headers: { 'a b': 'c' } }, /header "a b" has a name or value/],
    [{ ...good, headers: { a: 'b\nc' } }, /header "a" has a name or value/],
    [{ ...good, maxTokens: 0 }, /"maxTokens" must be a whole number/],
    [{ ...good, contextTokens: '8k' }, /"contextTokens" must be a whole number/],
    [{ ...good, abilities: ['sight'] }, /"abilities" must be a list of images, documents/],
    [{ ...good, reasoning: 'much' }, /"reasoning" must be/],
    [{ ...good, price: { input: 1 } }, /"price" must have "input" and "output"/],
    [{ ...good, price: { input: -1, output: 1 } }, /"price.input" must be a number/],
  ];
  for (const [entry, problem] of cases) {
    it(JSON.stringify(entry), () => assert.match(String(readOne(entry)), problem));
  }

  it('and the other entries are still used', () => {
    const { models, problems } = readModels({ bad: 1, good, ' odd ': good });
    assert.deepEqual([...models.keys()], ['good']);
    assert.equal(problems.length, 2);
  });

  it('a secret in it is not repeated', () => {
    const { problems } = readModels({ a: { ...good, headers: { Authorization: 'secret\u0000' } } });
    assert.ok(!problems.join().includes('secret'));
  });
});

it('a key in an entry is ignored, and a problem explains where keys belong', () => {
  const { models, problems } = readModels({ a: { provider: 'openai', model: 'm', apiKey: 'sk-1' } });
  assert.deepEqual(models.get('a'), { name: 'a', provider: 'openai', model: 'm' });
  assert.match(problems.join(), /Set API Key/);
  assert.doesNotMatch(problems.join(), /sk-1/);
});

it('no name and no key can reach a prototype', () => {
  const { models, problems } = readModelsFile(
    '{"models": {"__proto__": {"provider": "tour"}, "a": {"provider": "openai", "model": "m", "headers": {"__proto__": "x"}}}}',
  );
  assert.deepEqual([...models.keys()], ['a']);
  assert.match(problems.join(), /"__proto__" is ignored: its name is reserved/);
  assert.equal(Object.getPrototypeOf(models.get('a')?.headers), Object.prototype);
});

describe('a file of models', () => {
  it('may have comments and trailing commas', () => {
    const { models, problems } = readModelsFile('{ // mine\n "models": { "a": { "provider": "tour", }, } }');
    assert.deepEqual([[...models.keys()], problems], [['a'], []]);
  });
  const cases: readonly (readonly [text: string, problem: RegExp])[] = [
    ['{', /^The models file is not JSON: /],
    ['[]', /has no "models"/],
    ['{"models": 3}', /must be an object/],
  ];
  for (const [text, problem] of cases) {
    it(`${text} is one problem`, () => {
      const { models, problems } = readModelsFile(text);
      assert.equal(models.size, 0);
      assert.match(problems.join(), problem);
    });
  }
});

describe('a name finds', () => {
  const { models } = readModels({
    sonnet: { provider: 'anthropic', model: 'claude-x' },
    'openai/gpt-x': { provider: 'openai-chat', model: 'other' },
  });
  const cases: readonly (readonly [name: string, expected: ModelConfig])[] = [
    ['sonnet', { name: 'sonnet', provider: 'anthropic', model: 'claude-x' }],
    ['openai/gpt-x', { name: 'openai/gpt-x', provider: 'openai-chat', model: 'other' }],
    ['anthropic/claude-y', { name: 'anthropic/claude-y', provider: 'anthropic', model: 'claude-y' }],
    ['vscode/copilot/gpt-x', { name: 'vscode/copilot/gpt-x', provider: 'vscode', model: 'copilot/gpt-x' }],
    [' tour ', { name: 'tour', provider: 'tour', model: 'tour' }],
  ];
  for (const [name, expected] of cases) it(name, () => assert.deepEqual(findModel(name, models), expected));

  it('or a reason that lists the configured models', () => {
    assert.match(String(findModel('opus', models)), /no model “opus”.*“sonnet”, “openai\/gpt-x”/);
    assert.match(String(findModel('openai/', models)), /no model “openai\/”/);
    assert.match(String(findModel('constructor', new Map())), /No models are configured/);
    assert.match(String(findModel('openai-compatible/x', models)), /needs an address/);
  });
});

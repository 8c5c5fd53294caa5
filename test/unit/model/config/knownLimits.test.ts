import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type LearnedLimit, ModelLimits } from '../../../../src/model/config/knownLimits.ts';
import type { ModelConfig } from '../../../../src/model/config/modelConfig.ts';

const CONFIG: ModelConfig = {
  name: 'local',
  provider: 'openai-chat',
  model: 'm',
  baseUrl: 'http://host.example',
};
const OTHER: ModelConfig = { ...CONFIG, name: 'other' };

/** Limits whose store can be shared with another session. */
function createLimits(more: { readonly saved?: unknown; readonly always?: boolean } = {}) {
  const told: LearnedLimit[] = [];
  const state = { saved: more.saved };
  const limits = new ModelLimits({
    store: {
      read: () => state.saved,
      write: async (value) => {
        state.saved = JSON.parse(JSON.stringify(value));
      },
    },
    onLearned: (limit) => told.push(limit),
    alwaysTriesImages: () => more.always === true,
  });
  const known = (config: ModelConfig) => [...limits.of(config).known()];
  return { limits, state, told, known };
}

it('what a model refuses is known in the next session, until its settings change', async () => {
  const first = createLimits();
  await first.limits.of(CONFIG).learn('images', 'No.');
  await first.limits.of(CONFIG).learn('tools', 'No.');
  const { known } = createLimits({ saved: first.state.saved });
  assert.deepEqual(known(CONFIG), ['images', 'tools']);
  assert.deepEqual(known(OTHER), []);
  for (const change of [
    { model: 'n' },
    { baseUrl: 'http://b.example' },
    { maxTokens: 9 },
    { headers: { a: 'b' } },
  ])
    assert.deepEqual(known({ ...CONFIG, ...change }), [], JSON.stringify(change));
});

it('limits that are learnt after a change replace the old ones', async () => {
  const { limits, known } = createLimits();
  const changed = { ...CONFIG, model: 'n' };
  await limits.of(CONFIG).learn('images', 'No.');
  await limits.of(changed).learn('tools', 'No.');
  assert.deepEqual([known(CONFIG), known(changed)], [[], ['tools']]);
});

it('the user is told once of each, and again after forgetting', async () => {
  const { limits, told, known } = createLimits();
  const learn = () => limits.of(CONFIG).learn('images', 'No images.');
  await learn();
  await learn();
  assert.deepEqual(told, [{ model: 'local', feature: 'images', reason: 'No images.' }]);
  await limits.forget(['local']);
  assert.deepEqual(known(CONFIG), []);
  await learn();
  assert.equal(told.length, 2);
});

it('one model is forgotten without the others', async () => {
  const { limits } = createLimits();
  await limits.of(CONFIG).learn('images', 'No.');
  await limits.of(OTHER).learn('streaming', 'No.');
  await limits.forget(['local', 'unknown']);
  assert.deepEqual([...limits.list()], [['other', ['streaming']]]);
});

it('images are always tried if the user wants that, and everything else stays left out', async () => {
  const { limits, known } = createLimits({ always: true });
  await limits.of(CONFIG).learn('images', 'No.');
  await limits.of(CONFIG).learn('tools', 'No.');
  assert.deepEqual(known(CONFIG), ['tools']);
});

it('what others have written into the store is ignored', () => {
  for (const saved of [
    null,
    'x',
    [],
    { local: 1 },
    { local: { settings: 'x' } },
    { local: { features: ['images'] } },
  ])
    assert.deepEqual([...createLimits({ saved }).limits.list()], []);
});

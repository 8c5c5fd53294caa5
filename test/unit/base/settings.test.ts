import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  readSetting,
  readSettingsObject,
  SETTINGS,
  type SettingName,
  settingValues,
} from '../../../src/base/settings.ts';
import { readSettingSchemas } from '../../kit/manifest.ts';

describe('the settings', () => {
  it('have the types, defaults and ranges that package.json declares', () => {
    const picked = Object.entries(readSettingSchemas()).map(([name, schema]) => [
      name.replace('filechat.', ''),
      Object.fromEntries(
        ['type', 'default', 'minimum', 'maximum', 'enum'].flatMap((key) =>
          schema[key] === undefined ? [] : [[key, schema[key]]],
        ),
      ),
    ]);
    assert.deepEqual(SETTINGS, Object.fromEntries(picked));
  });

  const readings: readonly [name: SettingName, written: unknown, value: unknown][] = [
    ['maxSteps', undefined, 25],
    ['maxSteps', null, 25],
    ['maxSteps', 7, 7],
    ['maxSteps', 0, 1],
    ['maxSteps', 2.5, 2],
    ['maxSteps', '7', 25],
    ['timeoutSeconds', 1.5, 1.5],
    ['timeoutSeconds', Number.NaN, 60],
    ['results.maxInlineChars', 0, 1],
    ['approve', 'auto', 'auto'],
    ['approve', 'always', 'ask'],
    ['apps', 'no', true],
    ['defaultModel', 5, ''],
    ['disabledTools', ['a.*', 5, null], ['a.*']],
    ['disabledTools', 'a.*', []],
    ['mcpServers', [], []],
  ];
  for (const [name, written, value] of readings) {
    it(`${name} ${JSON.stringify(written)} is read as ${JSON.stringify(value)}`, () => {
      assert.deepEqual(readSetting(name, written), value);
    });
  }
});

describe('an object of settings', () => {
  const accepted: Readonly<Record<string, readonly [json: object, values: object]>> = {
    'may use names without the prefix': [{ maxSteps: 3 }, { maxSteps: 3 }],
    'may use names with the prefix': [{ 'filechat.maxSteps': 3 }, { maxSteps: 3 }],
    'may nest groups': [
      { results: { maxInlineChars: 900, fields: { 'a.b': [] } }, oauth: { clientMetadataUrl: 'x' } },
      { 'results.maxInlineChars': 900, 'results.fields': { 'a.b': [] }, 'oauth.clientMetadataUrl': 'x' },
    ],
    'may nest below the prefix': [
      { filechat: { apps: false, 'results.fields': {}, results: { maxInlineChars: 900 } } },
      { apps: false, 'results.fields': {}, 'results.maxInlineChars': 900 },
    ],
    'may nest in a group with the prefix': [
      { 'filechat.results': { transformer: 'x' } },
      { 'results.transformer': 'x' },
    ],
  };
  for (const [rule, [json, values]] of Object.entries(accepted)) {
    it(rule, () => assert.deepEqual(readSettingsObject(json), { values, problems: [] }));
  }

  const refused: readonly [json: unknown, problem: RegExp][] = [
    [[], /^The settings must be an object/],
    [{ maxStep: 1 }, /^Unknown setting “maxStep”\. The settings are mcpServers, timeoutSeconds, /],
    [{ 'editor.fontSize': 1 }, /^Unknown setting “editor\.fontSize”/],
    [{ results: { maxInline: 1 } }, /^Unknown setting “results\.maxInline”/],
    [{ a: 1, results: { b: 1 } }, /^Unknown settings “a”, “results\.b”\. The settings are/],
    [{ results: 1 }, /^Unknown setting “results”/],
    [JSON.parse('{"__proto__":1}'), /^Unknown setting “__proto__”/],
    [{ constructor: 1 }, /^Unknown setting “constructor”/],
    [{ maxSteps: '3' }, /^The setting “maxSteps” must be a whole number of at least 1\.$/],
    [{ maxSteps: null }, /^The setting “maxSteps” must be/],
    [
      { 'filechat.timeoutSeconds': 0 },
      /^The setting “filechat\.timeoutSeconds” must be a number of at least 1\.$/,
    ],
    [{ approve: 'yes' }, /^The setting “approve” must be ask, auto-readonly or auto\.$/],
    [{ auditLog: 'on' }, /^The setting “auditLog” must be true or false\.$/],
    [{ disabledTools: [1] }, /^The setting “disabledTools” must be a list of strings\.$/],
    [{ mcpServers: [] }, /^The setting “mcpServers” must be an object\.$/],
    [{ results: { transformer: {} } }, /^The setting “results\.transformer” must be a string\.$/],
    [{ apps: true, 'filechat.apps': false }, /^The setting “filechat\.apps” is set twice/],
  ];
  for (const [json, problem] of refused) {
    it(`${JSON.stringify(json)} has one problem, which names the setting`, () => {
      const { problems } = readSettingsObject(json);
      assert.equal(problems.length, 1);
      assert.match(problems[0] ?? '', problem);
    });
  }

  it('leaves the defaults where it has nothing', () => {
    const { maxSteps, approve } = settingValues(readSettingsObject({ maxSteps: 3 }).values);
    assert.deepEqual({ maxSteps, approve }, { maxSteps: 3, approve: 'ask' });
  });
});

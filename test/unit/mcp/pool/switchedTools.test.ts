import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  isSwitchedOff,
  type Switched,
  switchTool,
  withoutSwitchedOff,
} from '../../../../src/mcp/pool/switchedTools.ts';

const BARS = { server: 'charts', tool: 'bars' };

describe('which tools are switched off', () => {
  const cases: readonly [patterns: readonly string[], expected: boolean][] = [
    [[], false],
    [['charts.bars'], true],
    [['charts.*'], true],
    [['*.bars'], true],
    [['*'], true],
    [['charts'], false],
    [['charts.bar'], false],
    [['other.bars', 'charts.b*s'], true],
  ];
  for (const [patterns, expected] of cases) {
    it(`${JSON.stringify(patterns)}: ${expected}`, () =>
      assert.equal(isSwitchedOff(patterns, BARS), expected));
  }
});

describe('switching a tool', () => {
  const cases: readonly [patterns: readonly string[], on: boolean, expected: Switched][] = [
    [[], false, { ok: true, patterns: ['charts.bars'] }],
    [['x.*'], false, { ok: true, patterns: ['x.*', 'charts.bars'] }],
    // A matching pattern is not added twice.
    [['charts.*'], false, { ok: true, patterns: ['charts.*'] }],
    [['x.*', 'charts.bars'], true, { ok: true, patterns: ['x.*'] }],
    [[], true, { ok: true, patterns: [] }],
    // A pattern that matches other tools too is not changed.
    [['charts.bars', 'charts.*'], true, { ok: false, pattern: 'charts.*' }],
  ];
  for (const [patterns, on, expected] of cases) {
    it(`${JSON.stringify(patterns)} ${on ? 'on' : 'off'}`, () =>
      assert.deepEqual(switchTool(patterns, BARS, on), expected));
  }
});

describe('a list of tools', () => {
  const tool = (server: string, name: string) => ({ server, tool: name, inputSchema: {} });
  const list = {
    tools: [tool('a', 'x'), tool('a', 'y'), tool('b', 'x')],
    failures: [{ server: 'c', reason: 'It is down.' }],
    instructions: ['a', 'b', 'd'].map((server) => ({ server, text: 'Use me.' })),
  };

  it('omits tools that are switched off, and the instructions of a server without tools', () => {
    const left = withoutSwitchedOff(list, ['a.x', 'b.*']);
    assert.deepEqual(left.tools, [tool('a', 'y')]);
    assert.deepEqual(left.failures, list.failures);
    assert.deepEqual(
      left.instructions?.map(({ server }) => server),
      ['a', 'd'],
    );
  });

  it('is unchanged when nothing is switched off', () => assert.deepEqual(withoutSwitchedOff(list, []), list));
});

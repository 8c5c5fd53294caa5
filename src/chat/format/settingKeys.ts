import type { Approval, Reasoning } from '../../ports.ts';
import type { ChatSettings } from './settings.ts';

/** What a chat or an agent can say about its own run, and which values it takes: for who reads it and who writes it. */

export type SettingKey = Exclude<keyof ChatSettings, 'agentTools'>;

export interface SettingRule {
  /** What values look like. */
  readonly takes: 'text' | 'list' | 'count' | 'number' | 'choice';
  /** All values that there are, if they can be counted. */
  readonly choices?: readonly string[];
  /** An empty value is as good as none; for `approve` it is a wrong one. A string says what a value must be. */
  readonly read: (value: unknown) => Partial<ChatSettings> | string;
}

const APPROVALS = ['ask', 'auto-readonly', 'auto'] as const satisfies readonly Approval[];
const REASONINGS = ['off', 'low', 'medium', 'high'] as const satisfies readonly Reasoning[];
const MAX_TEMPERATURE = 2;

const RULES: Readonly<Record<SettingKey, SettingRule>> = {
  model: text('model'),
  agent: text('agent'),
  system: text('system'),
  title: text('title'),
  servers: list('servers'),
  tools: list('tools'),
  maxSteps: count('maxSteps'),
  maxTokens: count('maxTokens'),
  temperature: { takes: 'number', read: readTemperature },
  approve: choice('approve', APPROVALS, 'is ask, auto-readonly or auto'),
  reasoning: choice('reasoning', REASONINGS, 'is off, low, medium or high'),
};

/** In the order in which they are offered. */
export const SETTING_KEYS = Object.keys(RULES) as readonly SettingKey[];

export function settingRule(key: string): SettingRule | undefined {
  return isSettingKey(key) ? RULES[key] : undefined;
}

export function isSettingKey(key: string): key is SettingKey {
  return Object.hasOwn(RULES, key);
}

function text(key: 'model' | 'agent' | 'system' | 'title'): SettingRule {
  return {
    takes: 'text',
    read: (value) => (typeof value === 'string' && value.trim() !== '' ? { [key]: value } : 'is a text'),
  };
}

function count(key: 'maxSteps' | 'maxTokens'): SettingRule {
  return {
    takes: 'count',
    read: (value) =>
      Number.isSafeInteger(value) && Number(value) > 0 ? { [key]: Number(value) } : 'is a number from 1 on',
  };
}

function list(key: 'servers' | 'tools'): SettingRule {
  return {
    takes: 'list',
    read: (value) => {
      const items: readonly unknown[] = Array.isArray(value) ? value : [value];
      return items.every((item) => typeof item === 'string') ? { [key]: items } : 'is a list of names';
    },
  };
}

function choice(key: 'approve' | 'reasoning', choices: readonly string[], otherwise: string): SettingRule {
  return {
    takes: 'choice',
    choices,
    read: (value) => (typeof value === 'string' && choices.includes(value) ? { [key]: value } : otherwise),
  };
}

function readTemperature(value: unknown): Partial<ChatSettings> | string {
  const fits = typeof value === 'number' && value >= 0 && value <= MAX_TEMPERATURE;
  return fits ? { temperature: value } : `is a number from 0 to ${MAX_TEMPERATURE}`;
}

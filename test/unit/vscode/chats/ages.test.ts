import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ageGroup, ageText } from '../../../../src/vscode/chats/ages.ts';

const now = new Date(2026, 10, 16, 9, 30).getTime();
const at = (day: number, hour = 12, month = 10) => new Date(2026, month, day, hour).getTime();

describe('the age of a chat', () => {
  const groups: Record<string, [time: number, expected: string]> = {
    'is today from midnight on': [at(16, 0), 'today'],
    'is today when a clock was ahead': [at(18), 'today'],
    'is yesterday before midnight': [at(15, 23), 'yesterday'],
    'is this week for seven days': [at(10, 0), 'week'],
    'is older before': [at(9, 23), 'older'],
    'is counted over the end of a month': [at(31, 12, 9), 'older'],
  };
  for (const [name, [time, expected]] of Object.entries(groups)) {
    it(name, () => assert.equal(ageGroup(time, now), expected));
  }

  const texts: Record<string, [secondsAgo: number, language: string, expected: string]> = {
    'is now for a minute': [59, 'en', 'now'],
    'is in minutes': [61 * 5, 'en', '5 min. ago'],
    'is in hours': [2 * 3600, 'en', '2 hr. ago'],
    'is in days': [3 * 86_400, 'en', '3 days ago'],
    'is in the language of the editor': [2 * 86_400, 'de', 'vorgestern'],
    'is now when a clock was ahead': [-100, 'en', 'now'],
  };
  for (const [name, [secondsAgo, language, expected]] of Object.entries(texts)) {
    it(name, () => assert.equal(ageText(now - secondsAgo * 1000, now, language), expected));
  }
});

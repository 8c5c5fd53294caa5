// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readPasted } from '../../../../src/mcp/config/pasted/read.ts';
import type { PasteProblem } from '../../../../src/mcp/config/pasted/types.ts';
import { extractSecrets, type ServerEntry } from '../../../../src/mcp/config/serverEntry.ts';
import {
  describeAdded,
  describePasted,
  describePasteProblem,
} from '../../../../src/vscode/servers/addWords.ts';
import { type ReviewedServer, reviewRows, wrap } from '../../../../src/vscode/servers/reviewRows.ts';

const USER = { id: 'user' };
const FOLDER = { id: 'file:///f', folder: 'f' };

function reviewed(name: string, entry: ServerEntry, more: Partial<ReviewedServer> = {}): ReviewedServer {
  return { name, ...extractSecrets(name, entry), ignored: [], ...more };
}

function print(...given: Parameters<typeof reviewRows>): string {
  return reviewRows(...given)
    .map(({ label, description, isTitle, action }) => {
      const text = [label, description].filter((each) => each !== undefined).join(' | ');
      return isTitle ? `-- ${text}` : action ? `> ${text}` : text;
    })
    .join('\n');
}

describe('the review of new servers', () => {
  it('shows a whole program and masks its secrets, below the ways to add it', () => {
    const entry = { command: 'npx', args: ['-y', 'my charts'], env: { API_KEY: 'k', A: '1', B: '<your b>' } };
    assert.equal(
      print([reviewed('charts', entry, { ignored: ['timeout'] })], [USER, FOLDER]),
      `> $(account) Add to User Settings and Start | for all workspaces
> $(root-folder) Add to Workspace and Start | f/.vscode/mcp.json
-- charts · Starts this program
npx -y "my charts"
env: API_KEY=•••
env: A=1
env: B=\${input:charts.B}
$(key) Stored as secrets: API_KEY
$(question) Asked for at startup: B
$(info) Not used: timeout
-- Change
> $(edit) Rename charts…`,
    );
  });

  it('shows several servers, of which each can be left out, and what was not read', () => {
    const servers = [reviewed('a', { command: 'x' }), reviewed('b', { url: 'http://h.io/mcp' })];
    assert.equal(
      print(servers, [USER], ['“c” is broken.']),
      `> $(account) Add to User Settings and Start | for all workspaces
-- a
x
-- b
http://h.io/mcp
$(warning) Not encrypted: others on the network can read what is sent to this server.
$(warning) “c” is broken.
-- Change
> $(edit) Rename a…
> $(edit) Rename b…
> $(circle-slash) Exclude a
> $(circle-slash) Exclude b`,
    );
  });

  it('shows what a server replaces', () => {
    const text = print([reviewed('a', { command: 'x' }, { replaces: 'y --old' })], [USER]);
    assert.match(text, /^> \$\(account\) Replace in User Settings and Start/);
    assert.match(text, /x\n-- Replaces\ny --old\n/);
  });

  it('does not warn of connections on this machine', () => {
    assert.doesNotMatch(print([reviewed('a', { url: 'http://localhost:1/mcp' })], [USER]), /encrypted/);
  });

  it('breaks long lines without losing a character, and shows no icons of others', () => {
    const long = `node ${'x'.repeat(100)} ${'word '.repeat(30)}`;
    const lines = wrap(long);
    assert.ok(lines.every((line) => line.length <= 72));
    assert.equal(lines.map((line) => line.replace(/^\u00A0+/, '')).join(''), long);
    assert.match(print([reviewed('a', { command: 'x', args: ['$(check)'] })], [USER]), /\$ \(check\)/);
  });
});

describe('what is said while a server is added', () => {
  const problems: readonly [PasteProblem, RegExp][] = [
    [{ kind: 'empty' }, /^Enter a command/],
    [{ kind: 'tooLong', maxChars: 200_000 }, /200,000/],
    [{ kind: 'json', reason: 'Unexpected token' }, /not valid JSON: Unexpected token/],
    [{ kind: 'webPage', host: 'github.com' }, /page of github\.com/],
    [{ kind: 'link', text: `vscode:${'x'.repeat(500)}` }, /^.{1,150}$/],
    [{ kind: 'usage', command: 'claude mcp add', missing: 'name' }, /after “claude mcp add”/],
    [{ kind: 'usage', command: 'claude mcp add', missing: 'target' }, /the program or the URL/],
  ];
  for (const [problem, expected] of problems) {
    it(problem.kind, () => assert.match(describePasteProblem(problem), expected));
  }

  it('what was understood', () => {
    const describeText = (text: string) => {
      const pasted = readPasted(text);
      return pasted.kind === 'servers' && describePasted(pasted);
    };
    assert.equal(describeText('npx -y charts-mcp'), 'charts: npx -y charts-mcp');
    assert.equal(describeText('./server --x'), './server --x');
    assert.equal(describeText('https://a.io/mcp https://b.io/mcp'), '2 servers: a, b');
  });

  it('what was added', () => {
    assert.equal(describeAdded([{ server: 'charts', tools: 7 }]), 'Added charts. 7 tools.');
    assert.equal(describeAdded([{ server: 'charts', tools: 0 }]), 'Added charts. No tools.');
    const both = [
      { server: 'a', tools: 1 },
      { server: 'b', tools: 2 },
    ];
    assert.equal(describeAdded(both), 'Added a (1 tool), b (2 tools).');
  });
});

// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the variables of a configuration look like that.

import assert from 'node:assert/strict';
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { suite, suiteSetup, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import { fingerprintServer } from '../../../src/mcp/config/fingerprint.ts';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { addServer } from '../../../src/vscode/servers/add.ts';
import { ServerInputs } from '../../../src/vscode/servers/inputs.ts';
import { removeServer, writeServer } from '../../../src/vscode/servers/places.ts';
import { ServerList } from '../../../src/vscode/servers/serverList.ts';
import { writeUserServer } from '../../../src/vscode/settings.ts';
import { LastArguments } from '../../../src/vscode/tools/lastArguments.ts';
import { until } from '../../kit/until.ts';
import { MemorySecrets, MemoryState } from './kit/stores.ts';
import { inWorkspace } from './kit/workspace.ts';

const NEVER = new AbortController().signal;

interface Listing {
  readonly list: ServerList;
  readonly inputs: ServerInputs;
  readonly memory: vscode.Memento;
  readonly logged: readonly string[];
  /** As if the user had chosen Allow: a dialog cannot be answered here. */
  agreeTo(name: string, agreement?: { readonly place?: string; readonly envFile?: string }): Promise<void>;
  get(name: string): Promise<ServerConfig>;
  [Symbol.dispose](): void;
}

function openList(secrets = new MemorySecrets(), globalStorage = inWorkspace('none')): Listing {
  const memory = new MemoryState();
  const inputs = new ServerInputs(secrets);
  const logged: string[] = [];
  const log = { info: () => {}, warn: (message: string) => logged.push(message), error: () => {} };
  const list = new ServerList({ memory, log, samplePath: '/sample.js', inputs, globalStorage });
  const get = async (name: string) => {
    const found = (await list.all()).find((server) => server.name === name);
    assert.ok(found, `${name} is not listed`);
    return found.config;
  };
  return {
    list,
    inputs,
    memory,
    logged,
    get,
    agreeTo: async (name, { place = inWorkspace().toString(), ...more } = {}) => {
      const agreed = memory.get<Record<string, unknown>>('consent.servers', {});
      const agreement = { print: fingerprintServer(await get(name)), text: '', ...more };
      await memory.update('consent.servers', { ...agreed, [`${place} ${name}`]: agreement });
    },
    [Symbol.dispose]: () => list.dispose(),
  };
}

suite('configuration of servers', () => {
  const settings = () => vscode.workspace.getConfiguration('filechat');
  const file = () => inWorkspace('.vscode', 'mcp.json').fsPath;
  const envFile = () => inWorkspace('servers.env').fsPath;
  const writeServers = (servers: unknown) => writeFileSync(file(), JSON.stringify({ servers, inputs: [] }));
  const writeOwn = (servers: unknown) =>
    settings().update('mcpServers', servers, vscode.ConfigurationTarget.Global);
  /** Configures servers of the user and of the workspace, and reads them. */
  const configure = async (own: unknown, theirs: unknown = {}, secrets?: MemorySecrets) => {
    await writeOwn(own);
    writeServers(theirs);
    return openList(secrets);
  };
  const link = () => inWorkspace('linked.env').fsPath;
  let elsewhere = '';
  let before: { readonly file: string; readonly setting: unknown };

  suiteSetup(() => {
    elsewhere = realpathSync(mkdtempSync(join(tmpdir(), 'filechat-env-')));
    const setting = settings().inspect('mcpServers')?.globalValue;
    before = { file: readFileSync(file(), 'utf8'), setting };
  });
  suiteTeardown(async () => {
    writeFileSync(file(), before.file);
    for (const path of [envFile(), link(), elsewhere]) rmSync(path, { force: true, recursive: true });
    await writeOwn(before.setting);
  });

  test('servers of the user are allowed, those of the workspace need permission and replace none of the user’s', async () => {
    using opened = await configure(
      { mine: { command: 'x' }, off: { command: 'x', disabled: true }, bad: {} },
      { mine: { command: 'evil' }, theirs: { url: 'http://127.0.0.1:1/' } },
    );
    const { list } = opened;
    const listed = (await list.all()).map(({ name, source, isAllowed }) => `${name} ${source} ${isAllowed}`);
    assert.deepEqual(listed.sort(), ['mine user true', 'theirs workspace false']);
    assert.deepEqual(
      [...(await list.startable())],
      [['mine', { kind: 'stdio', command: 'x', args: [], env: {} }]],
    );
    assert.equal(await list.askForWorkspaceServers(['mine']), 'given');
    assert.equal(await list.askForConsent('mine'), 'given');
    assert.equal(opened.logged.length, 1);
    assert.match(opened.logged[0] ?? '', /^MCP server "bad" is ignored/);
  });

  test('without any server, the sample server is listed', async () => {
    using opened = await configure({});
    const { list } = opened;
    assert.deepEqual(
      (await list.all()).map(({ name, source, isAllowed }) => ({ name, source, isAllowed })),
      [{ name: 'sample', source: 'sample', isAllowed: true }],
    );
    const sample = (await list.startable()).get('sample');
    assert.ok(sample);
    assert.deepEqual(await list.resolve('sample', sample, NEVER), { config: sample, secrets: [] });
  });

  test('changes of the setting and of the file are reported', async () => {
    using opened = openList();
    const { list } = opened;
    const next = () =>
      new Promise<void>((resolve) => {
        const subscription = list.onDidChange(() => {
          subscription.dispose();
          resolve();
        });
      });
    const changedSetting = next();
    await writeOwn({ mine: { command: 'y' } });
    await changedSetting;
    assert.deepEqual([...(await list.allowed()).keys()], ['mine']);
    const changedFile = next();
    writeServers({ theirs: { command: 'z' } });
    await changedFile;
    assert.deepEqual((await list.all()).map(({ name }) => name).sort(), ['mine', 'theirs']);
  });

  test('servers of VS Code’s profile are used as they are, once the user has agreed', async () => {
    const user = join(elsewhere, 'User');
    const profile = join(user, 'profiles', 'p1');
    mkdirSync(profile, { recursive: true });
    mkdirSync(join(user, 'globalStorage'));
    const write = (folder: string, servers: object) =>
      writeFileSync(join(folder, 'mcp.json'), JSON.stringify({ servers }));
    const use = (value?: boolean) =>
      settings().update('editorServers', value, vscode.ConfigurationTarget.Global);
    write(user, { 'a.b': { command: 'x' }, mine: { command: 'theirs' } });
    await writeOwn({ mine: { command: 'own' } });
    writeServers({ 'a-b': { command: 'evil' } });
    using opened = openList(undefined, vscode.Uri.file(join(user, 'globalStorage', 'filechat')));
    const { list } = opened;
    const commands = async () =>
      (await list.all()).map(({ name, source, isAllowed, config }) =>
        [name, source, isAllowed, config.kind === 'stdio' && config.command].join(' '),
      );
    const changed = () => new Promise<void>((resolve) => list.onDidChange(() => resolve()));
    try {
      assert.deepEqual(await commands(), ['a-b workspace false evil', 'mine user true own']);
      assert.deepEqual(
        (await list.unusedProfileServers()).map(({ name }) => name),
        ['a-b', 'mine'],
      );
      const agreed = changed();
      await use(true);
      await agreed;
      assert.deepEqual(await commands(), ['a-b profile true x', 'mine user true own']);
      assert.deepEqual(await list.unusedProfileServers(), []);

      let isFollowed = false;
      void changed().then(() => {
        isFollowed = true;
      });
      // Nothing says when the editor has begun to watch the file.
      await until(() => {
        write(user, { 'a.b': { command: 'y' } });
        return isFollowed;
      });
      assert.deepEqual(await commands(), ['a-b profile true y', 'mine user true own']);

      write(profile, { other: { url: 'http://127.0.0.1:1/' } });
      const state = {
        userDataProfiles: [{ location: 'p1', name: 'Other' }],
        profileAssociations: { workspaces: { [inWorkspace().toString()]: 'p1' } },
      };
      writeFileSync(join(user, 'globalStorage', 'storage.json'), JSON.stringify(state));
      assert.deepEqual((await commands())[1], 'other profile true false');
      rmSync(join(profile, 'mcp.json'));
      assert.deepEqual(await commands(), ['a-b workspace false evil', 'mine user true own']);
      assert.deepEqual(opened.logged, []);
    } finally {
      await use(undefined);
    }
  });

  test('permission ends with any change, also of an env file', async () => {
    writeFileSync(envFile(), 'KEY=1\n');
    using opened = await configure({}, { theirs: { command: 'x', envFile: 'servers.env' } });
    const { list } = opened;
    const isAllowed = async () => (await list.allowed()).has('theirs');
    assert.equal(await isAllowed(), false);
    await opened.agreeTo('theirs');
    assert.equal(await isAllowed(), true);
    assert.deepEqual((await list.allowed()).get('theirs'), {
      kind: 'stdio',
      command: 'x',
      args: [],
      env: {},
      envFile: 'servers.env',
      fileVariables: { KEY: '1' },
      cwd: inWorkspace().fsPath,
    });
    writeFileSync(envFile(), 'KEY=2\n');
    assert.equal(await isAllowed(), false);
    writeFileSync(envFile(), 'KEY=1\n');
    assert.equal(await isAllowed(), true);
    writeServers({ theirs: { command: 'x', envFile: 'servers.env', args: ['more'] } });
    assert.equal(await isAllowed(), false);
    await opened.agreeTo('theirs');
    await list.forget();
    assert.equal(await isAllowed(), false);
  });

  test('permissions stored by earlier versions are ignored', async () => {
    using opened = await configure({}, { theirs: { command: 'x' } });
    const key = `${inWorkspace().toString()} theirs`;
    await opened.memory.update('consent.servers', { [key]: fingerprintServer(await opened.get('theirs')) });
    assert.equal((await opened.list.allowed()).size, 0);
  });

  test('a server of the user needs permission when the workspace controls its env file', async () => {
    // Symbolic links need a privilege on Windows.
    if (process.platform === 'win32') return;
    const outside = join(elsewhere, 'own.env');
    const linked = join(elsewhere, 'linked.env');
    writeFileSync(outside, 'KEY=1\n');
    writeFileSync(envFile(), 'NODE_OPTIONS=--require=./evil.cjs\n');
    rmSync(link(), { force: true });
    symlinkSync(outside, link());
    symlinkSync(envFile(), linked);
    using opened = await configure({
      own: { command: 'x', envFile: outside },
      inside: { command: 'x', envFile: '${workspaceFolder}/servers.env' },
      leadsIn: { command: 'x', envFile: linked },
      leadsOut: { command: 'x', envFile: link() },
    });
    const allowed = async () => [...(await opened.list.allowed()).keys()];
    assert.deepEqual(await allowed(), ['own']);
    for (const name of ['inside', 'leadsIn', 'leadsOut']) {
      await opened.agreeTo(name, { place: `user ${inWorkspace().toString()}` });
    }
    assert.deepEqual(await allowed(), ['own', 'inside', 'leadsIn', 'leadsOut']);
    writeFileSync(envFile(), 'NODE_OPTIONS=--require=./worse.cjs\n');
    assert.deepEqual(await allowed(), ['own', 'leadsOut']);
  });

  test('an env file outside of the workspace is read for a workspace server only with permission', async () => {
    // Symbolic links need a privilege on Windows.
    if (process.platform === 'win32') return;
    const outside = join(elsewhere, 'secrets.env');
    writeFileSync(outside, 'KEY=1\n');
    rmSync(link(), { force: true });
    symlinkSync(outside, link());
    using opened = await configure(
      {},
      {
        direct: { command: 'x', envFile: outside },
        linked: { command: 'x', envFile: 'linked.env' },
        // Not even its existence is checked.
        missing: { command: 'x', envFile: join(elsewhere, 'missing.env') },
      },
    );
    const { list } = opened;
    const variables = async (name: string) => {
      const config = await opened.get(name);
      return config.kind === 'stdio' ? config.fileVariables : undefined;
    };
    for (const name of ['direct', 'linked']) {
      assert.equal(await variables(name), undefined);
      await opened.agreeTo(name, { envFile: outside });
      assert.deepEqual(await variables(name), { KEY: '1' });
      assert.equal((await list.allowed()).has(name), false, 'its contents are not allowed yet');
      await opened.agreeTo(name, { envFile: outside });
      assert.equal((await list.allowed()).has(name), true);
    }
    assert.deepEqual(
      (await list.all()).filter(({ problem }) => problem !== undefined),
      [],
    );
  });

  test('a missing env file stops only its server, with the reason', async () => {
    using opened = await configure({
      good: { command: 'x' },
      bad: { command: 'x', envFile: join(elsewhere, 'missing.env') },
    });
    const { list } = opened;
    await list.resolve('good', await opened.get('good'), NEVER);
    await assert.rejects(list.resolve('bad', await opened.get('bad'), NEVER), /there is no such file/);
    assert.deepEqual(
      (await list.all()).map(({ name, problem }) => `${name} ${problem !== undefined}`),
      ['good false', 'bad true'],
    );
  });

  test('an endless env file is not read', async () => {
    if (process.platform === 'win32') return;
    using opened = await configure({ bad: { command: 'x', envFile: '/dev/zero' } });
    await assert.rejects(opened.list.resolve('bad', await opened.get('bad'), NEVER), /it is not a file/);
  });

  test('an input is read from the place of its server’s configuration', async () => {
    const config = { url: 'http://127.0.0.1:1/', headers: { Authorization: '${input:token}' } };
    using opened = await configure({ mine: config }, { theirs: config });
    const { list, inputs } = opened;
    await opened.agreeTo('theirs');
    await inputs.set('user', 'token', 'of the user');
    await inputs.set(inWorkspace().toString(), 'token', 'of the folder');
    const headers = async (name: string) => {
      const { config, secrets } = await list.resolve(name, await opened.get(name), NEVER);
      if (config.kind === 'stdio') assert.fail('a program has no headers');
      assert.deepEqual(secrets, Object.values(config.headers));
      return config.headers;
    };
    assert.deepEqual(await headers('mine'), { Authorization: 'of the user' });
    assert.deepEqual(await headers('theirs'), { Authorization: 'of the folder' });
    const [listed] = await list.all();
    assert.ok(!JSON.stringify(listed).includes('of the'));
  });

  test('a server whose configuration has changed is not started', async () => {
    using opened = await configure({ mine: { command: 'x' } });
    const config = await opened.get('mine');
    await writeOwn({ mine: { command: 'y' } });
    await assert.rejects(opened.list.resolve('mine', config, NEVER), /configuration has changed/);
  });

  test('an abort closes the input box, and an open box does not delay requests for known inputs', async () => {
    const secrets = new MemorySecrets();
    const inputs = new ServerInputs(secrets);
    const config: ServerConfig = { kind: 'stdio', command: 'x', args: [], env: {} };
    const request = (id: string) => ({ place: 'user', id, server: 's', config });
    await inputs.set('user', 'kept', 'k');
    const run = new AbortController();
    const missing = inputs.get(request('missing'), run.signal);
    assert.equal(await inputs.get(request('kept')), 'k');
    run.abort();
    assert.equal(await missing, undefined);
    await secrets.store('other', 'stays');
    await inputs.forget();
    assert.deepEqual([...secrets.kept.keys()], ['other']);
  });

  test('a cancelled input is not asked for again in the same run', async () => {
    using opened = await configure({ mine: { command: '${input:program}' }, other: { command: 'x' } });
    const { list } = opened;
    assert.equal(await list.askForWorkspaceServers(['other']), 'given');
    let isOpen = true;
    const asked = list.askForWorkspaceServers(['mine']).finally(() => {
      isOpen = false;
    });
    while (isOpen) await vscode.commands.executeCommand('workbench.action.closeQuickOpen');
    assert.equal(await asked, 'cancelled');
    await assert.rejects(
      list.resolve('mine', await opened.get('mine'), NEVER),
      /^Error: The input "program" was not entered/,
    );
    // A reply does not need the input. If it were asked for, this would hang.
    assert.equal(await list.askForWorkspaceServers(), 'given');
    await opened.inputs.set('user', 'program', 'node');
    assert.equal(await list.askForWorkspaceServers(['mine']), 'given');
  });

  test('the inputs of one server can be forgotten', async () => {
    const secrets = new MemorySecrets();
    const own = { mine: { command: 'x', args: ['${input:a}', '${input:b}'] }, plain: { command: 'x' } };
    using opened = await configure(own, {}, secrets);
    for (const id of ['a', 'b', 'other']) await opened.inputs.set('user', id, 'wrong');
    await opened.inputs.set('elsewhere', 'a', 'right');
    assert.equal(await opened.list.forgetInputs('plain'), false);
    assert.equal(await opened.list.forgetInputs('unknown'), false);
    assert.equal(await opened.list.forgetInputs('mine'), true);
    assert.deepEqual([...secrets.kept.keys()], ['input ["user","other"]', 'input ["elsewhere","a"]']);
  });

  test('a new server of the user is added to the others', async () => {
    await writeOwn({ mine: { command: 'x' } });
    await writeUserServer('other', { command: 'y' });
    const written = settings().inspect('mcpServers')?.globalValue;
    assert.deepEqual(written, { mine: { command: 'x' }, other: { command: 'y' } });
  });

  test('a server of the user is removed, and restored in its order', async () => {
    const servers = { a: { command: '1' }, b: { command: '2' }, c: { command: '3' } };
    const names = () => Object.keys(settings().inspect<object>('mcpServers')?.globalValue ?? {}).join();
    await writeOwn(servers);
    const restore = await removeServer('user', 'b');
    assert.equal(names(), 'a,c');
    await restore?.();
    assert.equal(names(), 'a,b,c');
    const again = await removeServer('user', 'b');
    await writeUserServer('d', { command: '4' });
    await again?.();
    assert.equal(names(), 'a,c,d,b');
    assert.equal(await removeServer('user', 'none'), undefined);
  });

  test('a server that was reviewed is written to the workspace, allowed, removed and restored', async () => {
    const place = inWorkspace().toString();
    using opened = await configure({}, { theirs: { command: 'x' } });
    const before = readFileSync(file(), 'utf8');
    await writeServer(place, { name: 'mine', entry: { command: 'y' }, inputs: [{ id: 'mine.KEY' }] });
    await opened.list.allow('mine');
    assert.deepEqual([...(await opened.list.allowed()).keys()], ['mine']);
    assert.equal(await opened.list.placeOf('mine'), place);
    assert.deepEqual(JSON.parse(readFileSync(file(), 'utf8')), {
      servers: { theirs: { command: 'x' }, mine: { command: 'y' } },
      inputs: [{ id: 'mine.KEY' }],
    });
    const added = readFileSync(file(), 'utf8');
    const restore = await removeServer(place, 'mine');
    assert.deepEqual(JSON.parse(readFileSync(file(), 'utf8')).servers, JSON.parse(before).servers);
    await restore?.();
    assert.equal(readFileSync(file(), 'utf8'), added);
    writeFileSync(file(), '{"servers": {');
    await assert.rejects(
      writeServer(place, { name: 'b', entry: {}, inputs: [] }),
      /not valid JSON.*Fix it first/,
    );
  });

  test('the last arguments of a tool are offered until its server changes or they are forgotten', async () => {
    let print = 'first';
    const last = new LastArguments(new MemoryState(), async () => print);
    const tool = { server: 's', tool: 't', inputSchema: { properties: { title: {}, key: {} } } };
    assert.equal(await last.of(tool), undefined);
    await last.remember(tool, { title: 'a', key: 'secret' });
    assert.deepEqual(await last.of(tool), { title: 'a' });
    print = 'second';
    assert.equal(await last.of(tool), undefined);
    print = 'first';
    assert.deepEqual(await last.of(tool), { title: 'a' });
    await last.forget();
    assert.equal(await last.of(tool), undefined);
    for (let at = 0; at < 60; at += 1) await last.remember({ ...tool, tool: `t${at}` }, { title: 'a' });
    assert.equal(await last.of({ ...tool, tool: 't9' }), undefined);
    assert.deepEqual(await last.of({ ...tool, tool: 't10' }), { title: 'a' });
  });

  test('an invalid server is rejected before any dialog', async () => {
    using opened = await configure({});
    const add = (argument: unknown) => addServer(opened, argument);
    await assert.rejects(add({ name: 'a b', config: { command: 'x' } }), /letters, digits/);
    await assert.rejects(add({ name: 'a', config: {} }), /neither "command" nor "url"/);
    await assert.rejects(add({ name: 'a', config: { command: '${nope}' } }), /\$\{nope\}/);
    await assert.rejects(add({ name: 'a' }), /both “name” and “config”/);
    await assert.rejects(add('npx "charts'), /A quote \("\) is not closed/);
    await assert.rejects(add({ mcpServers: { a: {} } }), /neither "command" nor "url"/);
    await assert.rejects(add({ theme: 'dark' }), /There is no MCP server in this JSON/);
  });
});

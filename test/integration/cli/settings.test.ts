import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { CORPUS, readCorpus, writeCorpus } from '../fixtures/corpus.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { repositoryPath } from '../helpers/sampleServer.ts';
import { end, sendAll, startWireServer, toolCall, words } from '../helpers/wireServer.ts';

describe('filechat --settings', () => {
  it('applies the limits, fields, transformer and servers of the file to results', async (t) => {
    const cli = await createCliFolder(t);
    const { settings } = writeCorpus(cli.path, {
      node: process.execPath,
      file: repositoryPath('test/integration/fixtures/corpus-server.ts'),
    });
    await cli.write('s.json', JSON.stringify({ ...settings, 'results.transformer': './transformer.mjs' }));
    const run = cli.start(['run', 'chat/a.chat.md', '--settings', 's.json']);
    const failed = checkEnd(await run.ended, { code: 1 })
      .stderr.trimEnd()
      .split('\n');
    assert.equal(failed[0], 'corpus.item c3: The disk is full.');
    assert.match(failed[1] ?? '', /^corpus\.item c8: The file a\.zip was not saved/);
    assert.equal(failed.length, 2);
    const { text = '', ...files } = readCorpus(cli.path);
    const resultOf = (name: string) => {
      const id = CORPUS.findIndex((item) => item.name === name) + 1;
      return text.split(/^# %% tool corpus\.item c/m).find((turn) => turn.startsWith(`${id}\n`)) ?? '';
    };
    assert.match(resultOf('long text'), /\[Tool generated file 1\]\(cmdassets\/tool-file-TIME-\d+-1\.txt\)/);
    assert.match(resultOf('fields with bytes, by a rule'), /"Downloaded Sales\.xyz as file/);
    assert.match(resultOf('a file over the limit'), /filechat\.results\.maxAssetBytes allows 250\.0 KB/);
    assert.match(resultOf('a result for the transformer'), /^Of corpus\.item$/m);
    assert.ok(Object.keys(files).length > 25);
  });

  it('takes the fields and the transformer of docs/results.md, and names rules that have no effect', async (t) => {
    const cli = await createCliFolder(t);
    const page = await readFile(repositoryPath('docs/results.md'), 'utf8');
    const examples = page.matchAll(/^(`{3,})\w+ file=(\S+)\n([\s\S]*?)^\1$/gm);
    const files = new Map([...examples].map(([, , name = '', code = '']) => [name, code]));
    const pdf = `%PDF-1.4\n${'stream '.repeat(57_140)}%%EOF\n`.padEnd(400_000);
    await cli.write('sales.pdf', pdf);
    await cli.write('tableau.mjs', files.get('tableau.mjs') ?? '');
    const server = repositoryPath('test/integration/fixtures/tableau-server.mjs');
    const tableau = { command: process.execPath, args: [server, join(cli.path, 'sales.pdf')] };
    const call = async (tool: string, args: object, results: object) => {
      await cli.write('s.json', JSON.stringify({ mcpServers: { tableau }, results }));
      const given = ['--args', JSON.stringify(args), '--chat', `${tool}/a.chat.md`, '--settings', 's.json'];
      await mkdir(join(cli.path, tool), { recursive: true });
      await rm(join(cli.path, tool, 'a.chat.md'), { force: true });
      checkEnd(await cli.start(['call', `tableau.${tool}`, ...given]).ended, { code: 0, stderr: '' });
      const chat = await cli.read(`${tool}/a.chat.md`);
      const [path = ''] = /cmdassets\/[\w.-]+/.exec(chat) ?? [];
      assert.equal(await cli.read(`${tool}/${path}`), pdf);
      const [, body = ''] = /^# %% tool .*\n([\s\S]*?)\n\n# %% user/m.exec(chat) ?? [];
      return `${body.replaceAll(/tool-file-[\w-]+-1\./g, 'tool-file-20261116-093012-V1StGXR8-1.')}\n`;
    };
    for (const as of ['json', 'structured']) {
      const shown = await call('download_workbook', { as }, { transformer: './tableau.mjs' });
      assert.equal(shown, files.get('transformer.md'));
    }
    const fields = JSON.parse(files.get('fields.json') ?? '');
    assert.equal(await call('download_workbook', { as: 'json' }, { fields }), files.get('fields.md'));
    const rules = [{ path: '$..x' }, { path: 'pdf_data', summary: '{content_type} of {view_name}, {page}' }];
    const odd = await call('get_view_as_pdf', {}, { fields: { 'tableau.get_view_as_pdf': rules } });
    assert.match(odd, /"pdf_data": "PDF of Revenue by Region, \{page\}"/);
    const problem = '> ⚠ Check filechat.results.fields for tableau.get_view_as_pdf.';
    assert.ok(odd.includes(`${problem} The path “\\$..x” is not supported.`), odd);
    assert.ok(odd.includes(`${problem} The summary names {page}, which is neither`), odd);
  });

  const fields = { 'a.b': { path: 'x' } };
  const wrong: Readonly<Record<string, readonly [file: string | undefined, ...named: RegExp[]]>> = {
    'an unknown key': ['{ "timeout": 5, "results": { "max": 1 } }', /“timeout”/, /“results\.max”/],
    'a value of another type': [
      '{ "filechat.maxSteps": "5" }',
      /“filechat\.maxSteps” must be a whole number/,
    ],
    'a field without a list of rules': [
      JSON.stringify({ results: { fields } }),
      /results\.fields” of a\.b must be/,
    ],
    'a field of no tool, and an unknown key of a rule': [
      JSON.stringify({ 'results.fields': { b: [{ path: 'x' }], 'a.b': [{ path: 'x', typ: 'pdf' }] } }),
      /The entry “b” of “results\.fields” must be named SERVER\.TOOL/,
      /Unknown key “typ” in “results\.fields” of a\.b\. The keys are path, type, summary\./,
    ],
    'a server that is not valid': ['{ "mcpServers": { "x": {} } }', /"x".*"command" nor "url"/],
    'a command that is not a string': [
      '{ "mcpServers": { "x": { "command": 42 } } }',
      /"x".*must be a string/,
    ],
    'a type that matches nothing': ['{ "results.allowedMimeTypes": ["image", "*"] }', /The type “image” of/],
    'a model that is not valid': [
      '{ "models": { "x": { "provider": "y" } } }',
      /"x".*"provider" must be one of/,
    ],
    'text that is not JSON': ['{ "maxSteps": ', /^Could not read the settings in s\.json: .*JSON/],
    'a list': ['[]', /must be an object/],
    'a file that is not there': [
      undefined,
      /^Could not read the settings in s\.json: there is no such file\./,
    ],
  };
  for (const [what, [file, ...named]] of Object.entries(wrong)) {
    it(`names ${what}, ends with 2, and writes nothing`, async (t) => {
      const cli = await createCliFolder(t);
      if (file !== undefined) await cli.write('s.json', file);
      const args = [
        'call',
        'sample.photo',
        '--chat',
        'a.chat.md',
        '--servers',
        MCP_JSON,
        '--settings',
        's.json',
      ];
      const { stderr } = checkEnd(await cli.run(...args), { code: 2, stdout: '' });
      for (const pattern of named) assert.match(stderr, pattern);
      assert.deepEqual(
        (await readdir(cli.path)).filter((name) => name !== 's.json'),
        [MCP_JSON],
      );
      assert.deepEqual(cli.servers(), []);
    });
  }

  it('names what is wrong with an option, and that servers are missing', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('s.json', '{ "autoSave": false, "apps": false, "editorTools": ["*"] }');
    const call = ['call', 'sample.photo', '--chat', 'a.chat.md', '--settings', 's.json'];
    const run = ['run', 'a.chat.md', '--settings', 's.json'];
    const lines: readonly (readonly [args: readonly string[], message: RegExp])[] = [
      [[...call, '--timeout', '0'], /--timeout must be a number of at least 1, not “0”\./],
      [[...call, '--timeout', 'soon'], /--timeout must be a number/],
      [[...run, '--images', 'some'], /--images must be auto, always or never, not “some”\./],
      [[...run, '--max-steps', '1.5'], /--max-steps must be a whole number of at least 1, not “1\.5”\./],
      [[...run, '--approve', 'yes'], /--approve must be ask, auto-readonly or auto, not “yes”\./],
      [call, /^No servers are configured\. Add --servers FILE\./],
    ];
    for (const [args, message] of lines) {
      assert.match(checkEnd(await cli.run(...args), { code: 2 }).stderr, message);
    }
  });
});

describe('what the settings say about a model', () => {
  it('decides whether it gets images, and what a reply costs', async (t) => {
    const cli = await createCliFolder(t);
    const usage = { prompt_tokens: 1000, completion_tokens: 10 };
    const { asked, url } = await startWireServer(t, (each) =>
      sendAll(each, words('Done.'), `data: ${JSON.stringify({ choices: [], usage })}\n\n`, end()),
    );
    const model = { provider: 'openai-chat', model: 'm', baseUrl: url, price: { input: 2, output: 100 } };
    const models = { text: { ...model, abilities: ['tools'] }, unknown: model };
    await cli.write('s.json', JSON.stringify({ models }));
    const call = ['call', 'sample.photo', '--chat', 'a.chat.md', '--servers', MCP_JSON];
    checkEnd(await cli.run(...call), { code: 0 });
    const asCalled = `${await cli.read('a.chat.md')}What is it?\n`;
    for (const name of ['text', 'unknown']) {
      await cli.write('a.chat.md', asCalled);
      const { stderr } = checkEnd(
        await cli.run('run', 'a.chat.md', '--settings', 's.json', '--model', name),
        { code: 0 },
      );
      assert.match(stderr, new RegExp(`^${name}: 1.0k in, 10 out, \\$0.0030$`, 'm'));
    }
    assert.deepEqual(
      asked.map(({ body }) => body.includes('image_url')),
      [false, true],
    );
  });
});

describe('options beside --settings', () => {
  it('--timeout wins over the file', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('s.json', '{ "timeoutSeconds": 50 }');
    const slow = ['call', 'sample.slow', '--args', '{"seconds": 20, "steps": 1}', '--chat', 'a.chat.md'];
    const args = [...slow, '--servers', MCP_JSON, '--settings', 's.json', '--timeout', '1'];
    assert.match(checkEnd(await cli.run(...args), { code: 1 }).stderr, /\b1 s/);
  });

  it('a run takes models, tools, steps, images and the audit log from the file, and options win', async (t) => {
    const cli = await createCliFolder(t);
    const { asked, url } = await startWireServer(t, (each) =>
      each.number === 1
        ? sendAll(each, toolCall(0, 'x1', 'sample__mixed', '{}'), end('tool_calls'))
        : sendAll(each, words('Done.'), end()),
    );
    const { servers } = JSON.parse(await cli.read(MCP_JSON));
    await cli.write(
      's.json',
      JSON.stringify({
        mcpServers: { sample: servers.sample },
        models: { it: { provider: 'openai-chat', model: 'm', baseUrl: url } },
        defaultModel: 'it',
        maxSteps: 1,
        approve: 'auto',
        builtInTools: false,
        disabledTools: ['sample.photo'],
        auditLog: true,
        results: { sendImagesToModel: 'always' },
      }),
    );
    await cli.write('a.chat.md', '# %% user\nDraw.\n');
    const run = ['run', 'a.chat.md', '--settings', 's.json'];
    assert.match(checkEnd(await cli.run(...run), { code: 1 }).stderr, /the limit of 1 step\./);
    const tools: readonly { function: { name: string } }[] = JSON.parse(asked[0]?.body ?? '').tools;
    const names = tools.map((tool) => tool.function.name);
    assert.ok(names.includes('sample__mixed'));
    assert.deepEqual(
      names.filter((name) => name === 'sample__photo' || name.startsWith('filechat')),
      [],
    );

    checkEnd(await cli.run(...run, '--max-steps', '5', '--images', 'never'), { code: 0 });
    assert.doesNotMatch(asked[1]?.body ?? '', /image_url/);
    await cli.write('a.chat.md', `${await cli.read('a.chat.md')}And now?\n`);
    checkEnd(await cli.run(...run), { code: 0 });
    assert.match(asked[2]?.body ?? '', /image_url/);

    const { kind, name, consent, outcome } = JSON.parse((await cli.read('audit.jsonl')).trim());
    assert.deepEqual(
      { kind, name, consent, outcome },
      { kind: 'call', name: 'mixed', consent: 'commandLine', outcome: 'ok' },
    );

    await cli.write('b.chat.md', '# %% user\n```tool_call sample.photo\n```\n');
    const declined = await cli.run('run', 'b.chat.md', '--settings', 's.json', '--audit', 'other.jsonl');
    assert.match(checkEnd(declined, { code: 1 }).stderr, /sample\.photo is turned off/);
    assert.match(await cli.read('other.jsonl'), /"outcome":"denied"/);
  });
});

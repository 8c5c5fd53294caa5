/** Links of the user on their way to a model, through the built command line. */
import assert from 'node:assert/strict';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { beginStream, configFor, speak, startRawServer, textsOf } from '../helpers/modelServer.ts';
import { checkEnd, createCliFolder } from '../helpers/runCli.ts';

/** Runs a chat with these links. Returns the texts that reached the provider, and what the user was told. */
async function send(t: TestContext, links: string, files: Readonly<Record<string, string | Uint8Array>>) {
  const bodies: unknown[] = [];
  const url = await startRawServer(t, (connection) => {
    bodies.push(JSON.parse(connection.body));
    beginStream(connection);
    connection.response.end(speak('anthropic', ['Done.']).join(''));
  });
  const cli = await createCliFolder(t);
  await mkdir(join(cli.path, 'src/node_modules/x'), { recursive: true });
  await cli.write('models.json', JSON.stringify({ models: { m: configFor('anthropic', url) } }));
  await cli.write('a.chat.md', `# %% user\n${links}\n`);
  for (const [name, content] of Object.entries(files)) await cli.write(name, content);
  const args = ['run', 'a.chat.md', '--model', 'm', '--models', 'models.json'];
  const { stderr } = checkEnd(await cli.start(args, { env: { FILECHAT_KEY_M: 'key' } }).ended, { code: 0 });
  return { text: textsOf(bodies[0]).join('\n'), stderr };
}

describe('a link of the user', () => {
  it('to lines sends those lines with their numbers, and a line in place of those that do not exist', async (t) => {
    const code = Array.from({ length: 30 }, (_, at) => `code ${at + 1};`).join('\n');
    const { text, stderr } = await send(
      t,
      'See [a](src/a.ts#L10-L12), [b](src/a.ts#L40) and [c](src/b.bin#L1)',
      {
        'src/a.ts': code,
        'src/b.bin': Uint8Array.of(0, 1, 255),
      },
    );
    assert.match(
      text,
      /Lines 10–12 of the file src\/a\.ts, with line numbers:\n10\tcode 10;\n11\tcode 11;\n12\tcode 12;/,
    );
    assert.doesNotMatch(text, /code 9;|code 13;/);
    assert.match(text, /\[Line 40 of the file src\/a\.ts is not sent: it has 30 lines\.\]/);
    assert.match(text, /\[Line 1 of the file src\/b\.bin is not sent: it is not a text file\.\]/);
    assert.match(stderr, /^Line 40 of “src\/a\.ts” is not sent to the model: it has 30 lines\.$/m);
    assert.match(stderr, /^Line 1 of “src\/b\.bin” is not sent to the model: it is not a text file\.$/m);
  });

  it('to a folder sends names and sizes, and no content', async (t) => {
    const { text } = await send(t, 'What is in [src](src)?', {
      'src/a.ts': 'secret();',
      'src/node_modules/x/index.js': '',
    });
    assert.match(
      text,
      /in the folder src\. Their content is not sent: .*\na\.ts {2}9 bytes\nnode_modules\/ {2}\(not listed\)/,
    );
    assert.doesNotMatch(text, /secret|index\.js/);
  });
});

import assert from 'node:assert/strict';
import { suite, suiteSetup, suiteTeardown, test } from 'mocha';
import * as vscode from 'vscode';
import type { RunOutcome } from '../../../src/ports/document.ts';
import type { NewAsset } from '../../../src/ports/results.ts';
import type { ToolCall, ToolCallOptions, ToolHost } from '../../../src/ports/tools.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { withEditorTools } from '../../../src/vscode/tools/editorTools.ts';
import { end, sendAll, words } from '../../integration/helpers/wireServer.ts';
import { PNG } from '../../kit/png.ts';
import { HI, LiveModel, run } from './kit/liveModel.ts';
import { openChat, setSetting, useSampleServer } from './kit/workspace.ts';

/** The bridge extension declares this tool. */
const NAME = 'filechat_test_draw';

const others: ToolHost = {
  listTools: async () => ({ tools: [{ server: 'a', tool: 'b', inputSchema: {} }], failures: [] }),
  callTool: async () => ({ isError: false, parts: [{ kind: 'text', text: 'Another server’s.' }] }),
};
const host = withEditorTools(others, () => ['filechat_test_*']);
const draw = (args: object): ToolCall => ({
  server: 'vscode',
  tool: NAME,
  id: 'c1',
  arguments: { ...args },
});

class DrawTool implements vscode.LanguageModelTool<{ readonly words?: string }> {
  readonly cancelled = Promise.withResolvers<void>();
  onHang = () => {};

  async invoke(
    { input }: vscode.LanguageModelToolInvocationOptions<{ readonly words?: string }>,
    token: vscode.CancellationToken,
  ): Promise<vscode.LanguageModelToolResult> {
    if (input.words === 'fail') throw new Error('There is no paper.');
    if (input.words === 'hang') {
      token.onCancellationRequested(() => this.cancelled.resolve());
      this.onHang();
      await new Promise(() => {});
    }
    return new vscode.LanguageModelToolResult([
      new vscode.LanguageModelTextPart(input.words ?? ''),
      imagePart(),
    ]);
  }
}

/** The types that we compile against do not have the class yet. */
function imagePart(): vscode.LanguageModelTextPart {
  const part = Reflect.get(vscode, 'LanguageModelDataPart');
  return part.image(new Uint8Array(PNG), 'image/png');
}

suite('VS Code’s own tools', () => {
  const saved: NewAsset[] = [];
  const options = (signal?: AbortSignal): ToolCallOptions => ({
    signal,
    assets: {
      spillFolder: () => Promise.reject(new Error('Nothing is spilled here.')),
      save: async (asset) => {
        saved.push(asset);
        return { number: saved.length, path: `cmdassets/${saved.length}.${asset.extension}` };
      },
    },
  });
  const tool = new DrawTool();
  let registered: vscode.Disposable | undefined;

  suiteSetup(() => {
    registered = vscode.lm.registerTool(NAME, tool);
  });
  suiteTeardown(() => registered?.dispose());

  test('enabled tools are listed after those of servers', async () => {
    const list = await host.listTools();
    assert.deepEqual(
      list.tools.map((each) => `${each.server}.${each.tool}`),
      ['a.b', `vscode.${NAME}`],
    );
    const [mine] = (await host.listTools('vscode')).tools;
    assert.equal(mine?.description, 'Draws for a test.');
    assert.deepEqual(mine?.inputSchema, {
      type: 'object',
      properties: { words: { type: 'string' } },
    });
  });

  test('no tools are listed without the setting', async () => {
    const without = withEditorTools(others, () => []);
    assert.equal((await without.listTools()).tools.length, 1);
    assert.deepEqual((await without.callTool(draw({}), options())).parts, [
      { kind: 'text', text: 'Another server’s.' },
    ]);
    const other = withEditorTools(others, () => ['something_else']);
    await assert.rejects(other.callTool(draw({}), options()), /not enabled.*filechat\.editorTools/);
  });

  test('text and an image stay in order, and the image is saved', async () => {
    const result = await host.callTool(draw({ words: 'Hello' }), options());
    assert.match(renderToolResult(result), /Hello[\s\S]*!\[Tool generated image 1\]\(cmdassets\/1\.png\)/);
    assert.deepEqual(
      saved.map(({ bytes }) => (bytes instanceof Uint8Array ? Buffer.from(bytes) : bytes)),
      [PNG],
    );
  });

  test('an abort reaches the tool, and does not wait for it', async () => {
    const stop = new AbortController();
    tool.onHang = () => stop.abort(new Error('Stopped.'));
    await assert.rejects(host.callTool(draw({ words: 'hang' }), options(stop.signal)), /Stopped\./);
    await tool.cancelled.promise;
  });

  test('a tool’s error is reported in its own words', async () => {
    await assert.rejects(host.callTool(draw({ words: 'fail' }), options()), /no paper/);
  });

  test('enabled tools reach the model, unless the chat names other servers', async () => {
    const model = new LiveModel();
    model.answer = (asked) => sendAll(asked, words('Done.'), end());
    const offered = async (name: string, text: string) => {
      const { uri } = await openChat(name, text);
      assert.equal((await run(uri)).ok, true);
      const tools: readonly { function: { name: string } }[] = JSON.parse(model.last.body).tools ?? [];
      return tools.map((each) => each.function.name).filter((each) => each.startsWith('vscode'));
    };
    await setSetting('mcpServers', {});
    await model.start();
    try {
      // A later change applies without a restart.
      await setSetting('editorTools', ['something_else']);
      assert.deepEqual(await offered('editorTools0.chat.md', HI), []);
      await setSetting('editorTools', ['filechat_test_*']);
      assert.deepEqual(await offered('editorTools1.chat.md', HI), [`vscode__${NAME}`]);
      assert.deepEqual(await offered('editorTools2.chat.md', `---\nservers: []\n---\n${HI}`), []);
    } finally {
      await setSetting('editorTools', undefined);
      await model.dispose();
    }
  });

  test('an enabled tool is called from a chat like any other', async () => {
    const settings = vscode.workspace.getConfiguration('filechat');
    const setTo = (value?: readonly string[]) =>
      settings.update('editorTools', value, vscode.ConfigurationTarget.Global);
    await useSampleServer();
    await setTo(['filechat_test_*']);
    try {
      const document = await openChat('editorTool.chat.md', '# %% user\n');
      const outcome = await vscode.commands.executeCommand<RunOutcome>('filechat.callTool', {
        server: 'vscode',
        tool: NAME,
        arguments: { words: 'Hello' },
      });
      assert.deepEqual([outcome.ok, outcome.error, outcome.assets.length], [true, undefined, 1]);
      assert.match(document.getText(), /# %% tool vscode\.filechat_test_draw c1\nHello\n/);
    } finally {
      await setTo(undefined);
    }
  });
});

/** Images that OpenAI shows while it makes them: the chat always has one link, to the newest version. */
import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import { PNG } from '../../kit/png.ts';
import { until } from '../../kit/until.ts';
import { CASES, createChat, GIF, OTHER_GIF, reply, speak, type Wire } from '../helpers/madeWire.ts';
import type { Connection } from '../helpers/modelServer.ts';
import { checkEnd } from '../helpers/runCli.ts';

const wire = CASES['OpenAI, an image after partial ones'] as Wire & { readonly reply: string };
const events = reply(wire).split(/(?<=\n\n)/);
/** The reply up to its first and second partial image, and to the image itself. */
const [first = 0, second = 0] = events.flatMap((event, at) =>
  event.includes('partial_image"') ? [at + 1] : [],
);
const drawn = second + 1;
const upTo = (count: number) => events.slice(0, count).join('');

const UNFINISHED = '> ⚠ The image above is not finished: its last version did not arrive.';

async function create(t: TestContext, replies: readonly ((connection: Connection) => void)[]) {
  const { cli, run, read, requests } = await createChat(t, wire, replies);
  /** The chat on disk without the mark of the writer, and its only file. */
  const look = async () => {
    const { shown, paths, assets, files } = await read();
    assert.deepEqual(assets, paths.toSorted(), 'there is one file for each link');
    return {
      reply: shown.slice(shown.indexOf('assistant\n') + 10).replace(/\s+(?:<!--|# %%)[\s\S]*/, ''),
      files,
    };
  };
  return { cli, run, look, requests };
}

describe('partial images', () => {
  it('are shown while they come, and the image takes their place', async (t) => {
    const seen: unknown[] = [];
    const { run, look } = await create(t, [
      async ({ response }) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const [from, to, bytes] of [
          [0, first, GIF],
          [first, second, OTHER_GIF],
        ] as const) {
          response.write(events.slice(from, to).join(''));
          await until(async () => {
            const now = await look().catch(() => undefined);
            if (!now?.files[0]?.equals(bytes)) return false;
            seen.push(now.reply);
            return true;
          });
        }
        response.end(events.slice(second).join(''));
      },
    ]);
    checkEnd(await run(), { code: 0 });
    const partial = 'I draw.\n\nimage 1 .gif';
    assert.deepEqual(seen, [partial, partial]);
    assert.deepEqual(await look(), { reply: wire.reply, files: [PNG] });
  });

  it('of a reply that breaks off and is repeated are replaced, and are not said to be made', async (t) => {
    for (const end of [first, second, drawn]) {
      const { run, look, requests } = await create(t, [speak(upTo(end)), speak(reply(wire))]);
      checkEnd(await run(), { code: 0 });
      assert.deepEqual(await look(), { reply: wire.reply, files: [PNG] });
      assert.equal(/already made these files/.test(requests[1]?.body ?? ''), end === drawn);
    }
  });

  it('stay where the reply ends without the image, with a line that says so', async (t) => {
    const { cli, run, look } = await create(
      t,
      [1, 2, 3].map(() => speak(upTo(second))),
    );
    checkEnd(await run(), { code: 1 });
    const kept = { reply: `I draw.\n\nimage 1 .gif\n\n${UNFINISHED}`, files: [OTHER_GIF] };
    assert.deepEqual(await look(), kept);
    assert.match(await cli.read('a.chat.md'), /<!-- filechat:interrupted connection lost -->/);
  });

  it('that a resumed reply has are kept beside the image', async (t) => {
    const broken = [1, 2, 3].map(() => speak(upTo(first)));
    const { run, look } = await create(t, [...broken, speak(reply(wire))]);
    checkEnd(await run(), { code: 1 });
    checkEnd(await run(), { code: 0 });
    const { reply: shown, files } = await look();
    assert.match(
      shown,
      /^I draw\.\n\nimage 1 \.gif\n\n> ⚠ [^\n]+\n\n<details>[\s\S]+\n\nimage 2 \.png\n\nDone\.$/,
    );
    assert.deepEqual(files, [GIF, PNG]);
  });

  it('stay if the provider cannot finish the image, and the reply goes on', async (t) => {
    const withoutResult = reply(wire).replace(/"result":"[^"]+"/, '"result":null');
    for (const failed of [withoutResult, withoutResult.replace('"completed"', '"failed"')]) {
      const { run, look } = await create(t, [speak(failed)]);
      checkEnd(await run(), { code: 0 });
      const line = '> ⚠ The image could not be saved: the provider could not finish it.';
      const kept = wire.reply.replace('image 1 .png', `image 1 .gif\n\n${line}`);
      assert.deepEqual(await look(), { reply: kept, files: [OTHER_GIF] });
    }
  });

  it('of two images leave names that sort in the order of the images', async (t) => {
    const again = events
      .slice(second - 2, drawn)
      .join('')
      .replaceAll('ig_1', 'ig_2');
    const other = again
      .replaceAll('"output_index":1', '"output_index":2')
      .replace(/"result":"[^"]+"/, `"result":"${GIF.toString('base64')}"`);
    const { cli, run } = await create(t, [
      speak([...events.slice(0, drawn), other, ...events.slice(drawn)].join('')),
    ]);
    checkEnd(await run(), { code: 0 });
    const names = (await cli.read('a.chat.md')).match(/model-image-[^)\]]+/g) ?? [];
    assert.equal(names.length, 2);
    assert.deepEqual(
      names.map((name) => name.split('-').slice(2, 5)),
      Array(2).fill(names[0]?.split('-').slice(2, 5)),
    );
  });

  it('stay if the image cannot be saved, and those of another type are not shown', async (t) => {
    const { cli, run, look } = await create(t, [speak(reply(wire)), speak(reply(wire))]);
    await cli.write('settings.json', '{"results.allowedMimeTypes":["image/gif"]}');
    checkEnd(await run('--settings', 'settings.json'), { code: 0 });
    const { reply: shown, files } = await look();
    assert.match(
      shown,
      /\n\nimage 1 \.gif\n\n> ⚠ The image was not saved: it is image\/png [^\n]+\n\nDone\.$/,
    );
    assert.deepEqual(files, [OTHER_GIF]);
    await cli.write('settings.json', '{"results.allowedMimeTypes":["image/png"]}');
    await cli.write('a.chat.md', '# %% user\nDraw.\n');
    checkEnd(await run('--settings', 'settings.json'), { code: 0 });
    assert.match(await cli.read('a.chat.md'), /model-image-[^)]+\.png\)\n\nDone\./);
  });
});

/** Responses of model servers, replayed whole, in pieces, byte by byte, and cut off. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { partialReply } from '../../../src/chat/reply/place.ts';
import { readReply } from '../../../src/chat/reply/read.ts';
import { ENDINGS, type StreamOutcome } from '../../../src/model/providers/endings.ts';
import { HI } from '../../unit/loop/scriptedChat.ts';
import { type Replay, type Replayed, startReplay } from './replay.ts';
import { readWireFiles, type WireFile } from './wireFile.ts';

const WIRES = readWireFiles();

/**
 * Cuts are so far apart, and begin at another byte for each wire; there are also some at the end. Cuts at all bytes take
 * minutes.
 */
const CUT_BYTES = process.env['FILECHAT_ALL_CUTS'] === '1' ? 1 : 307;
/** One cut in this many is repeated at each attempt. */
const CUT_AGAIN = 4;
const AT_ONCE = 8;

/** How often the model is asked. */
const REQUESTS: Readonly<Record<StreamOutcome, number>> = { ended: 1, failed: 1, again: 3 };
const MAX_REQUESTS = 3;

describe('the table of endings', () => {
  const inWires = new Set(WIRES.map(({ ending }) => ending));
  it('knows the ending of each wire', () => {
    const names = new Set(['complete', ...ENDINGS.map(({ name }) => name)]);
    assert.deepEqual(
      [...inWires].filter((name) => !names.has(name)),
      [],
    );
  });

  it('has a wire for each row that a response can show', () => {
    const rows = ENDINGS.filter(({ problem }) => problem !== 'silent');
    assert.deepEqual(
      rows.filter(({ name }) => !inWires.has(name)),
      [],
    );
  });
});

describe('a wire gives its chat', () => {
  for (const wire of WIRES) {
    it(wire.name, async (t) => {
      const replay = await startReplay(t);
      const whole = Buffer.concat(wire.pieces);
      const bytes = Array.from(whole, (_, at) => whole.subarray(at, at + 1));
      for (const pieces of [[whole], wire.pieces, bytes]) {
        const { requests, chat, error, usage } = await replay(wire, [{ ...wire, pieces }]);
        const tokens = wire.usage === undefined ? undefined : usage;
        assert.deepEqual(
          { requests, chat, error, usage: tokens },
          { requests: requestsOf(wire), chat: wire.chat, error: wire.error, usage: wire.usage },
        );
      }
    });
  }
});

describe('a wire that is cut off loses, repeats and invents nothing', () => {
  for (const [index, wire] of WIRES.entries()) {
    it(wire.name, async (t) => {
      const replay = await startReplay(t);
      const { length } = Buffer.concat(wire.pieces);
      const bytes = [...Array(length).keys()].filter((at) => at % CUT_BYTES === index % CUT_BYTES);
      const cuts = [...new Set([...bytes, length - 2, length - 1, length])].map((at, count) => ({
        at,
        isAgain: count % CUT_AGAIN === 0,
      }));
      while (cuts.length > 0) {
        await Promise.all(cuts.splice(0, AT_ONCE).map((cut) => checkCut(replay, wire, cut)));
      }
    });
  }
});

interface Cut {
  readonly at: number;
  readonly isAgain: boolean;
}

/** Every second connection breaks; the others end normally. */
async function checkCut(replay: Replay, wire: WireFile, { at, isAgain }: Cut): Promise<void> {
  const pieces = [Buffer.concat(wire.pieces).subarray(0, at)];
  const cut = { pieces, resets: at % 2 === 0 };
  const about = `${wire.name}, cut after ${at} bytes`;
  const retried = await replay(wire, [cut, wire]);
  assert.ok(retried.requests <= MAX_REQUESTS, about);
  // Complete calls are run although the connection broke after them.
  if (retried.requests === 1 && hasCall(wire)) assertBeginning(retried, wire, about);
  else assert.equal(retried.chat, wire.chat, about);

  if (!isAgain) return;
  const never = await replay(wire, [cut]);
  assert.ok(never.requests <= MAX_REQUESTS, about);
  assertBeginning(never, wire, about);
}

function requestsOf({ ending }: WireFile): number {
  return REQUESTS[ENDINGS.find(({ name }) => name === ending)?.outcome ?? 'ended'];
}

function hasCall({ chat }: WireFile): boolean {
  return chat.includes('```tool_call ');
}

/** The reply is the beginning of the whole reply. */
function assertBeginning({ chat }: Replayed, wire: WireFile, about: string): void {
  const [got, whole] = [readChat(chat), readChat(wire.chat)];
  // Until its tag has arrived, reasoning is text.
  const isUnmarked = got.reasoning === '' && /^\W*\w*$|^<\|/.test(got.text);
  const isReasoning = got.reasoning === '' && whole.reasoning.startsWith(got.text.split(/\s*</, 1)[0] ?? '');
  const isBeginning =
    whole.text.startsWith(got.text) || (whole.reasoning !== '' && (isUnmarked || isReasoning));
  assert.ok(isBeginning, `${about}: ${JSON.stringify(got.text)}`);
  // It may end with the beginning of the tag that would have closed it.
  const reasoning = got.reasoning.replace(/[<[]\S*$/, '');
  assert.ok(whole.reasoning.startsWith(reasoning), `${about}: ${JSON.stringify(reasoning)}`);
  assert.deepEqual(got.calls, whole.calls.slice(0, got.calls.length), about);
}

/** The words of the reply, without its marks. */
function readChat(chat: string) {
  const body = chat
    .slice(HI.length)
    .replace('\n# %% assistant\n', '')
    .replace(/\n# %% user\n$/, '');
  const parts = readReply(body);
  const texts = parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  const partial = partialReply(chat.replace(/\n# %% user\n$/, ''));
  return {
    text: partial?.text ?? texts.join('\n\n'),
    reasoning: parts.flatMap((part) => (part.kind === 'reasoning' ? [part.text] : [])).join('\n\n'),
    calls: parts.flatMap((part) => (part.kind === 'call' ? [part.argumentsText] : [])),
  };
}

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type BreakdownItem, GROUPS, partsOf, totalOf } from '../../../../src/model/request/breakdown.ts';
import { ChatConversation } from '../../../../src/model/request/conversation.ts';
import { estimateRequest } from '../../../../src/model/request/estimate.ts';
import { createTourModel } from '../../../../src/model/tour.ts';
import type { TextEdit } from '../../../../src/ports/document.ts';
import type { ChatModel } from '../../../../src/ports/models.ts';
import { MemoryAttachments } from './requests.ts';

const IMAGE = 'cmdassets/tool-image-20261116-093012-V1StGXR8-1.png';
const CHAT = `---
system: You are terse.
---
# %% user
Plot [the sales](data/sales.pdf), please. ${'It matters. '.repeat(40)}

# %% assistant
\`\`\`tool_call charts.bar c1
{"values": [3, 5]}
\`\`\`

# %% tool charts.bar c1
Here it is:

![Tool generated image 1](${IMAGE})

# %% assistant
The second is higher. <!-- not sent -->

# %% user
Thanks. And now?
`;
const png = { bytes: 'x', mimeType: 'image/png', size: 10_000 };

function conversation(model: ChatModel = createTourModel()) {
  const tools = ['bar', 'line'].map((tool) => ({ server: 'charts', tool, inputSchema: { type: 'object' } }));
  return new ChatConversation({
    findModel: async () => model,
    tools: {
      listTools: async (server) => ({
        tools: [...tools, { server: 'files', tool: 'read', inputSchema: {} }].filter(
          (each) => each.server === server,
        ),
        failures: [],
      }),
      callTool: () => Promise.reject(new Error('Nothing is called here.')),
    },
    attachments: new MemoryAttachments({
      'data/sales.pdf': { bytes: '%PDF-1.7\n%%EOF\n', mimeType: 'application/pdf', size: 60_000 },
      'a.txt': { bytes: 'one\ntwo\nthree\nfour' },
      [IMAGE]: png,
    }),
    readAgent: async () => undefined,
    servers: async () => ['charts', 'files'],
  });
}

const signal = new AbortController().signal;
const breakDown = (text: string) => conversation().breakDown(text, signal);
const prepare = async (text: string) => (await conversation().prepare(text, signal)).request;
const toolNames = async (text: string) => (await prepare(text)).tools.map(({ name }) => name).join(' ');
const apply = (text: string, edit: TextEdit | undefined) => {
  assert.ok(edit, 'it can be left out');
  return text.slice(0, edit.start) + edit.text + text.slice(edit.end);
};
const turnOf = (items: readonly BreakdownItem[], words: string) => {
  const found = items.find(
    ({ what }) => what.kind === 'turn' && CHAT.slice(what.turn.start, what.turn.end).includes(words),
  );
  assert.ok(found);
  return found;
};

describe('the breakdown of a request', () => {
  it('adds up to the estimate, except for the overhead of messages', async () => {
    const parts = await breakDown(CHAT);
    const estimate = estimateRequest(await prepare(CHAT));
    for (const group of GROUPS) {
      const [counted, told] = [estimate[group], totalOf(parts[group])];
      assert.ok(told <= counted && counted - told <= 40, `${group}: ${told} of ${counted}`);
    }
    assert.equal(totalOf(parts.tools), estimate.tools);
    assert.equal(totalOf(parts.attachments), estimate.attachments);
  });

  it('lists the largest first, with offsets', async () => {
    const { history, attachments } = await breakDown(CHAT);
    const [first] = history;
    assert.equal(first?.at, CHAT.indexOf('# %% user'));
    assert.deepEqual(
      attachments.map(({ what, at }) => [what.kind === 'file' && what.name, at]),
      [
        ['data/sales.pdf', CHAT.indexOf('[the sales]')],
        [IMAGE.replace('cmdassets/', ''), CHAT.indexOf('tool-image')],
      ],
    );
  });

  it('is listed with the largest first, and adds up to the corrected total', async () => {
    const items = partsOf(await breakDown(CHAT), 10_000);
    const sizes = items.map(({ tokens }) => tokens);
    assert.deepEqual(
      sizes,
      sizes.toSorted((a, b) => b - a),
    );
    assert.equal(Math.round(totalOf(items)), 10_000);
    const [server] = items.flatMap(({ what, tokens }) => (what.kind === 'server' ? [{ what, tokens }] : []));
    const tools = server?.what.tools.reduce((sum, { tokens }) => sum + tokens, 0) ?? 0;
    assert.equal(Math.round(tools), Math.round(server?.tokens ?? 0));
    assert.deepEqual(partsOf({ system: [], history: [], tools: [], attachments: [] }, 10), []);
  });

  it('lists attached lines on their own, by their link', async () => {
    const chat = '# %% user\nLook at [this](a.txt#L2-L3), not [that](a.txt#L9).\n';
    const { history, attachments } = await breakDown(chat);
    assert.deepEqual(
      attachments.map(({ what, tokens }) => [what.kind === 'file' && what.name, tokens > 10]),
      [['a.txt#L2-L3', true]],
    );
    // The turn, and the line that says that line 9 is not sent.
    assert.ok((history[0]?.tokens ?? 0) > 30);
  });

  it('an attachment is left out alone', async () => {
    const [pdf] = (await breakDown(CHAT)).attachments;
    const text = apply(CHAT, pdf?.leaveOut);
    assert.ok(text.includes('Plot <!-- [the sales](data/sales.pdf) -->, please.'));
    assert.deepEqual((await breakDown(text)).attachments.length, 1);
  });

  it('an image of a result is left out, and its text stays', async () => {
    const picture = (await breakDown(CHAT)).attachments[1];
    const text = apply(CHAT, picture?.leaveOut);
    const after = await breakDown(text);
    assert.equal(after.attachments.length, 1);
    assert.ok(JSON.stringify(await prepare(text)).includes('Here it is:'));
    assert.equal(text.replace('<!-- for the user only -->\n\n', ''), CHAT);
  });

  it('a whole result is left out, and its call does not run again', async () => {
    const { leaveOut } = turnOf((await breakDown(CHAT)).history, 'Here it is');
    const sent = JSON.stringify(await prepare(apply(CHAT, leaveOut)));
    assert.ok(!sent.includes('Here it is') && sent.includes('(nothing)'));
  });

  it('text is left out together with its comments', async () => {
    const { leaveOut } = turnOf((await breakDown(CHAT)).history, 'The second is higher');
    const text = apply(CHAT, leaveOut);
    assert.ok(text.includes('# %% assistant\n<!-- The second is higher. --> <!-- not sent -->\n\n# %% user'));
    assert.ok(!JSON.stringify(await prepare(text)).includes('higher'));
  });

  it('a turn with calls, or with text that would end the comment, stays', async () => {
    const { history } = await breakDown(CHAT);
    assert.equal(turnOf(history, 'tool_call').leaveOut, undefined);
    const arrows = CHAT.replace('Thanks.', 'Thanks --> yes.');
    const last = (await breakDown(arrows)).history.find(({ at }) => at === arrows.lastIndexOf('# %% user'));
    assert.equal(last?.leaveOut, undefined);
  });

  it('a server is left out by naming the others', async () => {
    const [charts] = (await breakDown(CHAT)).tools;
    assert.equal(charts?.what.kind === 'server' && charts.what.tools.length, 2);
    const text = apply(CHAT, charts?.leaveOut);
    assert.match(text, /^servers: \[files\]$/m);
    assert.equal(await toolNames(text), 'files__read');
  });

  it('a model that refuses tools gets neither them nor words about them', async () => {
    const refusing = conversation({ ...createTourModel(), takesTools: () => false });
    const { tools, system } = await refusing.breakDown(CHAT, signal);
    const { request } = await refusing.prepare(CHAT, signal);
    assert.deepEqual([tools, request.tools, request.system], [[], [], 'You are terse.']);
    assert.equal(totalOf(system), estimateRequest(request).system);
  });

  it('a tool is left out by naming the others', async () => {
    const [charts] = (await breakDown(CHAT)).tools;
    const line = charts?.what.kind === 'server' && charts.what.tools.find(({ tool }) => tool === 'line');
    const text = apply(CHAT, line ? line.leaveOut : undefined);
    assert.equal(await toolNames(text), 'charts__bar files__read');
  });
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { trimBlankLines } from '../../../../src/base/lines.ts';
import { renderAssetLink } from '../../../../src/chat/format/assetLink.ts';
import { parseChat, turnBody } from '../../../../src/chat/format/parse.ts';
import { mergeMetadata } from '../../../../src/chat/reply/notes.ts';
import { callsInBody, type ReplyPart, readReply } from '../../../../src/chat/reply/read.ts';
import { ReplyRenderer, type WrittenEvent } from '../../../../src/chat/reply/render.ts';
import type { ProviderMetadata } from '../../../../src/ports/models.ts';
import { eachCase } from '../eachCase.ts';
import { hostileReply } from '../hostileReply.ts';

const TICKS = '````';
const text = (value: string): WrittenEvent => ({ kind: 'text', text: value });
const reasoning = (value: string): WrittenEvent => ({ kind: 'reasoning', text: value });
const metadata = (values: ProviderMetadata): WrittenEvent => ({ kind: 'metadata', metadata: values });
const call = (argumentsText: string, more: { metadata?: ProviderMetadata } = {}): WrittenEvent => ({
  kind: 'call',
  key: 'k',
  name: 'a__b',
  argumentsText,
  ...more,
});
const IMAGE = { kind: 'image', number: 1, path: 'cmdassets/model-image-1.png', maker: 'model' } as const;
const file = (more: { isDraft?: boolean; metadata?: ProviderMetadata } = {}): WrittenEvent => ({
  kind: 'writtenFile',
  markdown: renderAssetLink(IMAGE),
  ...more,
});
const half = (value: string): WrittenEvent => ({ kind: 'callInput', key: 'k', name: 'a__b', text: value });

function newRenderer(): ReplyRenderer {
  let number = 0;
  return new ReplyRenderer((name) => {
    number += 1;
    return { server: 'a', tool: name.slice(3), id: `c${number}` };
  });
}

function render(events: readonly WrittenEvent[]): string {
  const renderer = newRenderer();
  return events.map((event) => renderer.push(event)).join('') + renderer.end();
}

describe('a reply’s events in the document', () => {
  const cases: Record<string, [events: WrittenEvent[], written: string]> = {
    'text is text': [[text('Hel'), text('lo')], 'Hello'],
    'blank lines around a text are dropped': [[text('\n\n'), text('  Hello\n'), text('\n')], '  Hello'],
    'reasoning is in a fence inside a folded block': [
      [reasoning('Hm'), reasoning('m'), text('Hello')],
      `<details><summary>Reasoning</summary>\n\n${TICKS}reasoning\nHmm\n${TICKS}\n\n</details>\n\nHello`,
    ],
    'hidden reasoning keeps its metadata': [
      [reasoning(''), metadata({ p: { s: '--' } })],
      '<!-- filechat:metadata {"of":"811c9dc5","p":{"s":"\\u002d-"}} -->',
    ],
    'hidden reasoning that only calls need is left out of a reply without any': [
      [reasoning(''), metadata({ openai: { s: 'x' } }), text('Hello')],
      'Hello',
    ],
    'hidden reasoning that only calls need is written before the first call': [
      [reasoning(''), metadata({ openai: { s: 'x' } }), text('I look.'), call('{}')],
      'I look.\n\n<!-- filechat:metadata {"of":"811c9dc5","openai":{"s":"x"}} -->\n\n```tool_call a.b c1\n{}\n```',
    ],
    'reasoning cannot close its fence': [
      [reasoning(`a\n${TICKS}\nb`)],
      `<details><summary>Reasoning</summary>\n\n${TICKS}reasoning\na\n\\${TICKS}\nb\n${TICKS}\n\n</details>`,
    ],
    'a call is a block of its own': [
      [text('I look.\n'), half('{"x"'), half(': 1}'), call('{"x": 1}'), text('And:')],
      'I look.\n\n```tool_call a.b c1\n{"x": 1}\n```\n\nAnd:',
    ],
    'a call without JSON is kept unchanged': [
      [call('{"x": \n````')],
      '`````tool_call a.b c1\n{"x": \n````\n`````',
    ],
    'metadata is below its part': [
      [text('a'), metadata({ p: { s: 1 } }), call('{}', { metadata: { p: { t: 2 } } })],
      'a\n<!-- filechat:metadata {"p":{"s":1}} -->\n\n```tool_call a.b c1\n{}\n```\n<!-- filechat:metadata {"p":{"t":2}} -->',
    ],
    'metadata without text is marked': [
      [call('{}'), metadata({ p: { s: 1 } })],
      '```tool_call a.b c1\n{}\n```\n\n<!-- filechat:metadata {"of":"","p":{"s":1}} -->',
    ],
    'code that the text left open is closed before a call': [
      [text('```\na'), call('{}')],
      '```\na\n```\n<!-- filechat:closed 1 -->\n\n```tool_call a.b c1\n{}\n```',
    ],
    'code in a list is closed before a call': [
      [text('- ```\n  a'), call('{}')],
      '- ```\n  a\n````end\n````\n<!-- filechat:closed 2 -->\n\n```tool_call a.b c1\n{}\n```',
    ],
    'invisible characters in arguments are escaped': [
      [call('{"x": "\u202e"}')],
      '```tool_call a.b c1\n{"x": "\\u202e"}\n```',
    ],
  };
  eachCase(cases, (events, written) => assert.equal(render(events), written));
});

describe('a reply that is cut', () => {
  const cases: Record<string, [events: WrittenEvent[], addition: string, closeFence?: string]> = {
    'keeps the end of its text': [[text('a `b \n\n')], 'a `b \n\n'],
    'returns how to close its code': [[text('~~~\na\n')], '~~~\na\n', '~~~'],
    'returns how to close its formula': [[text('$$\na')], '$$\na', '$$ $$\n<!-- filechat:closed 1 -->'],
    'drops an incomplete fence': [[text('a\n``')], 'a\n'],
    'drops a fence that may be longer': [[text('a\n~~~')], 'a\n'],
    'drops an incomplete fence in a list': [[text('- a\n  > ```')], '- a\n  > '],
    'keeps backticks within a line': [[text('a ``')], 'a ``'],
    'keeps backticks in code': [[text('````\n```')], '````\n```', '````'],
    'keeps a partial call, which does not run': [
      [text('a'), half('{"x"')],
      'a\n\n```tool_call_partial a__b\n{"x"\n```',
    ],
    'closes code before a partial call': [
      [text('```\na'), half('{')],
      '```\na\n```\n<!-- filechat:closed 1 -->\n\n```tool_call_partial a__b\n{\n```',
    ],
    'closes its reasoning': [
      [reasoning('a')],
      `<details><summary>Reasoning</summary>\n\n${TICKS}reasoning\na\n${TICKS}\n\n</details>`,
    ],
  };
  eachCase(cases, (events, addition, closeFence?) => {
    const renderer = newRenderer();
    const before = events.map((event) => renderer.push(event)).join('');
    const cut = renderer.interrupt();
    assert.deepEqual([before + cut.addition, cut.closeFence], [addition, closeFence]);
  });
});

describe('reading a reply', () => {
  const cases: Record<string, [body: string, parts: ReplyPart[]]> = {
    'nothing has no part': ['\n', []],
    'a comment of the user is not part of it': [
      'a <!-- b\n\nc --> d `<!-- e -->`',
      [{ kind: 'text', text: 'a  d `<!-- e -->`' }],
    ],
    'notes and partial calls are not part of it': [
      'a\n\n```tool_call_partial x\n{\n```\n<!-- filechat:interrupted stopped -->\n',
      [{ kind: 'text', text: 'a' }],
    ],
    'reasoning that was edited is not intact': [
      render([reasoning('abc'), metadata({ p: { s: 1 } })]).replace('abc', 'abd'),
      [{ kind: 'reasoning', text: 'abd', metadata: { p: { s: 1 } }, intact: false }],
    ],
    'damaged metadata is a comment': ['a\n<!-- filechat:metadata {"p -->', [{ kind: 'text', text: 'a' }]],
    'a call of chat.md is a call': [
      'a\n\n<tool_call>\n<tool_name>x.y</tool_name>\n</tool_call>\n',
      [
        { kind: 'text', text: 'a' },
        { kind: 'call', server: 'x', tool: 'y', argumentsText: '{}' },
      ],
    ],
    'a file may have CRLF': [
      'a\r\n\r\n```tool_call a.b c1\r\n{}\r\n```\r\n',
      [
        { kind: 'text', text: 'a' },
        { kind: 'call', server: 'a', tool: 'b', id: 'c1', argumentsText: '{}\r\n' },
      ],
    ],
  };
  eachCase(cases, (body, parts) => assert.deepEqual(readReply(body), parts));
});

describe('a call of chat.md in code', () => {
  const xml = 'a\n\n```xml\n<tool_call>\n<tool_name>x.y</tool_name>\n</tool_call>\n```\n\nb\n\n';
  const before = '# %% user\nhi\n\n# %% assistant\n';

  it('is a call when its result follows, which the turn alone does not tell', () => {
    const chat = `${before}${xml}# %% tool_execute\n<tool_result>\n1\n</tool_result>\n`;
    const turn = parseChat(chat).turns[1];
    assert.ok(turn);
    assert.deepEqual(
      readReply(turnBody(chat, turn), callsInBody(turn)).map((part) => part.kind),
      ['text', 'call', 'text'],
    );
    assert.deepEqual(readReply(xml).length, 1, 'without a result it is an example');
  });
});

const anyMetadata: fc.Arbitrary<ProviderMetadata> = fc.dictionary(
  fc.constantFrom('anthropic', 'google'),
  fc.dictionary(
    fc.constantFrom('signature', 'x'),
    fc.oneof(hostileReply, fc.constantFrom('--', '-->', '---')),
    {
      noNullPrototype: true,
    },
  ),
  { noNullPrototype: true },
);
const anyEvent: fc.Arbitrary<WrittenEvent> = fc.oneof(
  { weight: 3, arbitrary: hostileReply.map(text) },
  { weight: 2, arbitrary: hostileReply.map(reasoning) },
  anyMetadata.map(metadata),
  hostileReply.map(half),
  fc.option(anyMetadata, { nil: undefined }).map((about) => file(about && { metadata: about })),
  fc
    .tuple(fc.dictionary(hostileReply, fc.jsonValue(), { noNullPrototype: true }), fc.boolean(), anyMetadata)
    .map(([value, has, about]) => call(JSON.stringify(value), has ? { metadata: about } : {})),
);

/** The expected parts of the events. */
function partsOf(events: readonly WrittenEvent[]): readonly unknown[] {
  const parts: {
    kind: string;
    text?: string;
    args?: unknown;
    metadata?: ProviderMetadata;
    asset?: typeof IMAGE;
    done?: boolean;
  }[] = [];
  for (const event of events) {
    const last = parts.at(-1);
    if (event.kind === 'text' || event.kind === 'reasoning') {
      if (last?.kind === event.kind && !last.done) last.text += event.text;
      else if (event.kind === 'reasoning' || event.text !== '')
        parts.push({ kind: event.kind, text: event.text });
    } else if (event.kind === 'metadata') {
      const isAbout =
        last &&
        !['call', 'file'].includes(last.kind) &&
        (last.kind === 'reasoning' || last.done || last.text?.trim());
      const about = isAbout ? last : { kind: 'text', text: '' };
      if (!isAbout) parts.push(about);
      about.metadata = mergeMetadata(about.metadata, event.metadata);
      about.done = true;
    } else if (event.kind === 'writtenFile') {
      const about = event.metadata ? { metadata: event.metadata } : {};
      parts.push({ kind: 'file', asset: IMAGE, done: true, ...about });
    } else if (event.kind === 'call') {
      const args: unknown = JSON.parse(event.argumentsText);
      parts.push({ kind: 'call', args, done: true, ...(event.metadata ? { metadata: event.metadata } : {}) });
    }
  }
  return parts.flatMap(({ done: _, ...part }): readonly unknown[] => {
    const said = part.text?.replace(/\r\n?/g, '\n');
    if (part.kind === 'call' || part.kind === 'file') return [part];
    if (part.kind === 'reasoning') return [{ ...part, text: said, intact: true }];
    const words = trimBlankLines(said ?? '');
    if (words.trim() === '' && !part.metadata) return [];
    return [{ ...part, text: words.trim() === '' ? '' : words }];
  });
}

describe('any events', () => {
  it('metadata after a no-break space alone leaves the reasoning before it intact', () => {
    const events = [reasoning('Hm'), text('\n\u00a0\n'), metadata({ p: { s: 1 } })];
    assert.deepEqual(readReply(render(events)), partsOf(events));
  });

  it('their texts, reasoning, calls and metadata are read back', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 8 }), fc.boolean(), (events, crlf) => {
        // Hidden reasoning without metadata is dropped and separates nothing.
        fc.pre(
          events.every(
            (event, at) =>
              event.kind !== 'reasoning' || event.text !== '' || events[at + 1]?.kind === 'metadata',
          ),
        );
        const written = render(events);
        const read = readReply(crlf ? written.replaceAll('\n', '\r\n') : written).map((part) => {
          if (part.kind !== 'call') return part;
          const { kind, argumentsText, metadata: about } = part;
          return { kind, args: JSON.parse(argumentsText), ...(about ? { metadata: about } : {}) };
        });
        assert.deepEqual(read, partsOf(events));
      }),
      { numRuns: 150 },
    );
  });

  it('the text of a model never counts as a file', () => {
    const link = renderAssetLink(IMAGE);
    const long = link.replace('cmdassets', 'a'.repeat(2000));
    for (const words of [link, `${link} `, `\\${link}`, `a\n${link}\nb`]) {
      const written = render([text(words)]);
      assert.notEqual(written, words.trimEnd());
      assert.deepEqual(readReply(written), [{ kind: 'text', text: words }], written);
    }
    assert.deepEqual(readReply(render([text(long)])), [{ kind: 'text', text: long }]);
  });

  it('a draft is folded with the reasoning before it, and is not read back', () => {
    const written = render([reasoning('Hm.'), file({ isDraft: true }), file({ isDraft: true }), text('So.')]);
    const link = renderAssetLink(IMAGE);
    const fold = `\`\`\`\`reasoning\nHm.\n\`\`\`\`\n\n${link}\n\n${link}`;
    assert.equal(written, `<details><summary>Reasoning</summary>\n\n${fold}\n\n</details>\n\nSo.`);
    assert.deepEqual(
      readReply(written).map(({ kind }) => kind),
      ['reasoning', 'text'],
    );
  });

  it('a draft without reasoning is folded, too', () => {
    const written = render([file({ isDraft: true }), file()]);
    assert.match(written, /^<details><summary>Reasoning<\/summary>\n\n!.*\n\n<\/details>\n\n!.*$/);
    assert.deepEqual(readReply(written), [{ kind: 'file', asset: IMAGE }]);
  });

  for (const [name, between] of Object.entries({
    'a call': call('{}'),
    'a note': metadata({ p: { s: 1 } }),
  })) {
    it(`a list before ${name} does not affect the text after it`, () => {
      const written = render([text('- a'), between, text('  ```\n# %% user')]);
      assert.equal(parseChat(`# %% assistant\n${written}\n\n# %% user\n`).turns.length, 2);
      assert.equal(readReply(written).length, between.kind === 'call' ? 3 : 2);
    });
  }

  it('they leave the turns around them unchanged, and only their calls are calls', () => {
    fc.assert(
      fc.property(fc.array(anyEvent, { maxLength: 8 }), fc.boolean(), (events, isCut) => {
        const renderer = newRenderer();
        let written = events.map((event) => renderer.push(event)).join('');
        if (isCut) {
          const { addition, closeFence } = renderer.interrupt();
          written += `${addition}${closeFence ? `\n${closeFence}` : ''}`;
        } else written += renderer.end();
        const { turns, problems } = parseChat(
          `# %% user\nhi\n\n# %% assistant\n${written}\n\n# %% user\nbye\n`,
        );
        assert.deepEqual(
          turns.map((turn) => turn.role),
          ['user', 'assistant', 'user'],
        );
        const calls = events.filter((event) => event.kind === 'call');
        assert.equal(turns[1]?.calls.length, calls.length);
        assert.deepEqual(problems, []);
      }),
      { numRuns: 300 },
    );
  });
});

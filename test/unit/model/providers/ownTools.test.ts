import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { EventReader } from '../../../../src/model/providers/events.ts';
import { type SdkProvider, wireOf } from '../../../../src/model/providers/wire.ts';

/** The provider's calls in a stream with these parts. */
function read(provider: SdkProvider, parts: readonly object[]) {
  const reader = new EventReader(wireOf({ provider }), { host: 'h', model: 'm', secrets: [] });
  const events = parts.flatMap((part) => reader.read(part as LanguageModelV4StreamPart));
  return [...events, ...reader.end()].flatMap(({ kind, ...fields }) =>
    kind === 'ownCall' ? [Object.values(fields)] : [],
  );
}

const called = (toolName: string, input: object, result: unknown) => [
  { type: 'tool-call', toolCallId: 'k', toolName, input: JSON.stringify(input), providerExecuted: true },
  { type: 'tool-result', toolCallId: 'k', toolName, result },
];

describe('a call that the provider ran has its query and its result', () => {
  const page = (title: string | undefined, url: string) => ({
    title,
    url,
    encryptedContent: 'eyJ'.repeat(9),
  });
  const cases: Record<string, [SdkProvider, readonly object[], readonly [string, string, string]]> = {
    'Anthropic, a search': [
      'anthropic',
      called('web_search', { query: 'moons' }, [
        page('Mars', 'https://a.test'),
        page(undefined, 'https://b.test'),
      ]),
      ['web_search', 'moons', 'moons\n\n1. Mars\n   https://a.test\n2. https://b.test'],
    ],
    'Anthropic, a search that failed': [
      'anthropic',
      called(
        'web_search',
        { query: 'moons' },
        { type: 'web_search_tool_result_error', errorCode: 'max_uses_exceeded' },
      ),
      ['web_search', 'moons', 'moons\n\nmax_uses_exceeded'],
    ],
    'Anthropic, a command': [
      'anthropic',
      called(
        'code_execution',
        { type: 'bash_code_execution', command: 'ls\npwd' },
        { stdout: 'a\n', stderr: 'no\n', return_code: 2, content: [] },
      ),
      ['code_execution', 'ls; pwd', 'ls\npwd\n\nOutput:\na\nno\nExit code 2'],
    ],
    'Anthropic, a file that is written': [
      'anthropic',
      called(
        'code_execution',
        { command: 'create', path: 'a.py', file_text: 'x = 1' },
        { is_file_update: false },
      ),
      ['code_execution', 'create; a.py; x = 1', 'create\na.py\nx = 1'],
    ],
    'OpenAI, a page that is opened': [
      'openai',
      called('web_search', {}, { action: { type: 'openPage', url: 'https://a.test' } }),
      ['web_search', 'https://a.test', 'https://a.test'],
    ],
    'OpenAI, several searches': [
      'openai',
      called('web_search', {}, { action: { type: 'search', query: 'a', queries: ['a', 'b'] } }),
      ['web_search', 'a; b', 'a\nb'],
    ],
    'Gemini, code that fails': [
      'google',
      called(
        'code_execution',
        { language: 'PYTHON', code: '1/0' },
        { outcome: 'OUTCOME_FAILED', output: 'Error' },
      ),
      ['code_execution', '1/0', '1/0\n\nOutput:\nError\nOUTCOME_FAILED'],
    ],
    'Gemini, a tool of its server': [
      'google',
      called('server:GOOGLE_SEARCH_WEB', { query: 'moons' }, {}),
      ['google_search_web', 'moons', 'moons'],
    ],
  };
  for (const [name, [provider, parts, expected]] of Object.entries(cases)) {
    it(name, () => assert.deepEqual(read(provider, parts), [[...expected]]));
  }

  it('is cut if it is very long, and says so', () => {
    const [[, , text = '']] = read(
      'anthropic',
      called('code_execution', {}, { stdout: 'x'.repeat(50_000) }),
    ) as [string[]];
    assert.match(text, /^Output:\nx+\n\[Cut: these are the first 20000 of 50008 characters\.\]$/);
  });

  it('is left out if there is nothing to say', () => {
    assert.deepEqual(read('openai', called('image_generation', {}, { result: 'iVBORw0KGgo=' })), []);
  });
});

it('pages that a search of OpenAI has found are no citations; those in the text are', () => {
  const reader = new EventReader(wireOf({ provider: 'openai' }), { host: 'h', model: 'm', secrets: [] });
  const annotation = { type: 'url_citation', url: 'https://a.test/', title: 'A' };
  const parts = [
    { type: 'source', sourceType: 'url', id: '1', url: 'https://found.test/' },
    { type: 'text-start', id: 't' },
    { type: 'text-delta', id: 't', delta: 'Yes.' },
    { type: 'raw', rawValue: { type: 'response.output_text.annotation.added', annotation } },
    { type: 'text-end', id: 't' },
  ];
  const events = [
    ...parts.flatMap((part) => reader.read(part as LanguageModelV4StreamPart)),
    ...reader.end(),
  ];
  assert.equal(
    events.map((event) => (event.kind === 'text' ? event.text : '')).join(''),
    'Yes. [1](https://a.test/)\n\nSources:\n\n1. [A](https://a.test/)',
  );
});

import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ModelError, toFailure } from '../../../../src/model/providers/modelError.ts';
import { hasFeature, limitModel, refusedFeature } from '../../../../src/model/providers/refusals.ts';
import type {
  ChatModel,
  FilePart,
  ModelEvent,
  ModelRequest,
  RequestFeature,
} from '../../../../src/ports/models.ts';

const IMAGE: FilePart = {
  kind: 'file',
  name: 'a.png',
  mimeType: 'image/png',
  size: 3,
  read: async () => new Uint8Array(3),
};
const PDF: FilePart = { ...IMAGE, name: 'a.pdf', mimeType: 'application/pdf' };
const FULL: ModelRequest = {
  system: 'Be terse.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }, IMAGE, PDF] }],
  tools: [{ name: 'a__b', tool: { server: 'a', tool: 'b' }, description: '', inputSchema: {} }],
  temperature: 0.2,
};
const BARE: ModelRequest = { system: '', messages: [], tools: [], isWhole: true };

/** What the SDK throws for a response with this status and body. */
function refusal(reason: string, statusCode = 400) {
  const responseBody = JSON.stringify({ error: { message: reason } });
  const error = { name: 'AI_APICallError', message: 'Bad Request', statusCode, responseBody };
  return toFailure(error, { host: 'host.example', model: 'm', secrets: [] });
}

type Row = readonly [feature: RequestFeature, who: string, words: string, status?: number];

const REFUSALS: readonly Row[] = [
  ['images', 'LM Studio', 'Model does not support images. Please use a model that does.'],
  ['images', 'Ollama', 'this model does not support image input (ref: b8bd630e-4a39-4b57-82af-9158ee9d5703)'],
  ['images', 'Ollama', 'this model is missing data required for image input', 500],
  ['images', 'vLLM', 'At most 0 image(s) may be provided in one request.'],
  ['images', 'vLLM', '/models/Intern-S1 is not a multimodal model'],
  [
    'images',
    'llama.cpp',
    'image input is not supported - hint: if this is unexpected, you may need to provide the mmproj',
    500,
  ],
  ['images', 'OpenRouter', 'No endpoints found that support image input', 404],
  [
    'images',
    'DeepSeek',
    'Failed to deserialize the JSON body into the target type: messages[1]: unknown variant `image_url`, expected `text` at line 1 column 210',
  ],
  [
    'images',
    'Groq',
    "'messages.0' : for 'role:user' the following must be satisfied[('messages.0.content' : value must be a string)]",
  ],
  ['images', 'Groq', 'messages[0].content must be a string'],
  ['images', 'Azure', 'Invalid content type. image_url is only supported by certain models.'],
  ['images', 'Gemini', 'Image input modality is not enabled for models/gemma-3-1b-it'],
  ['images', 'Anthropic', "'claude-3-5-haiku-20241022' does not support image input."],
  ['images', 'xAI', 'Image inputs are not supported by this model.'],
  ['images', 'Bedrock', "This model doesn't support the image content block. Remove it and try again."],
  ['images', 'LM Studio', 'Only text tool_result blocks are supported when tool_result.content is an array.'],
  ['images', 'a gateway', 'The model does not yet support multimodal messages/inputs'],
  ['images', 'a gateway', "Unsupported content type: 'image_url'"],

  ['images', 'a gateway', 'This model only supports text input.'],
  ['images', 'a gateway', 'The model x does not have vision capabilities'],
  [
    'images',
    'a gateway',
    "Invalid type for 'messages[0].content': expected a string, but got an array instead.",
  ],
  ['images', 'a gateway', 'body.messages.0.content.str: Input should be a valid string'],
  ['images', 'a gateway', 'x is a text-only model'],
  ['images', 'a gateway', 'This model cannot process images'],
  ['images', 'a gateway', 'image_url content type is not supported'],
  ['images', 'a gateway', 'No vision support'],
  ['images', 'a gateway', 'Unsupported modality: image'],
  ['images', 'a gateway', 'unexpected item type in content: image_url'],
  ['images', 'a gateway', 'messages[0]: invalid type: sequence, expected a string at line 1'],

  ['tools', 'Ollama', 'registry.ollama.ai/library/gemma:2b does not support tools'],
  ['tools', 'OpenRouter', 'No endpoints found that support tool use. To learn more, visit the docs.', 404],
  ['tools', 'OpenAI', "Unsupported parameter: 'tools' is not supported with this model."],
  ['tools', 'Groq', '`tools` is not supported with this model'],
  ['tools', 'Groq', '`tool calling` is not supported with this model'],
  ['tools', 'DeepSeek', 'deepseek-reasoner does not support Function Calling'],
  ['tools', 'DeepInfra', 'Tool calling is not supported for model: mistralai/Mistral-Small-24B', 405],
  ['tools', 'Gemini', 'Function calling is not enabled for models/gemma-3-27b-it'],
  ['tools', 'Bedrock', "This model doesn't support tool use."],
  ['tools', 'vLLM', '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set'],
  ['tools', 'llama.cpp', 'tools param requires --jinja flag', 500],
  ['tools', 'an old gateway', 'Unrecognized request argument supplied: tools'],

  ['tools', 'a gateway', 'Extra inputs are not permitted: tools'],
  ['tools', 'a gateway', 'tools: Extra inputs are not permitted'],
  ['tools', 'a gateway', 'body.tools: Extra inputs are not permitted'],
  ['tools', 'a gateway', 'The model does not have tool calling capability'],
  ['tools', 'a gateway', 'This model is not capable of using tools'],
  ['tools', 'a gateway', 'Tools are disabled for this model'],

  ['system', 'vLLM with Gemma', 'System role not supported'],
  ['system', 'llama.cpp with Gemma', 'Jinja Exception: System role not supported', 500],
  ['system', 'OpenAI', "Unsupported value: 'messages[0].role' does not support 'system' with this model."],
  ['system', 'Azure', "Unsupported value: 'messages[0].role' does not support 'developer' with this model."],
  ['system', 'Gemini', 'Developer instruction is not enabled for models/gemma-3-27b-it'],
  [
    'system',
    'Bedrock',
    "This model doesn't support system messages. Try again without a system message or use a model that supports system messages.",
  ],
  [
    'system',
    'DeepSeek',
    'messages[0].role: unknown variant `developer`, expected one of `system`, `user`, `assistant`, `tool`',
  ],
  ['system', 'OpenAI', "'developer' is not one of ['system', 'assistant', 'user'] - 'messages.0.role'"],
  [
    'system',
    'a gateway',
    "invalid parameter 'messages[0].role': invalid role 'developer', must be one of: system",
  ],
  ['system', 'a gateway', 'developer role is not supported'],

  ['system', 'vLLM with Mistral', 'Conversation roles must alternate user/assistant/user/assistant/...'],
  ['system', 'a gateway', 'Only user and assistant roles are supported!'],
  ['system', 'a gateway', 'This model does not support a system prompt'],
  ['system', 'a gateway', 'messages: first message must use the user role'],
  ['system', 'a gateway', 'role must be one of user, assistant'],
  ['system', 'a gateway', "messages.0.role: Input should be 'user' or 'assistant'"],

  ['temperature', 'OpenAI', "Unsupported parameter: 'temperature' is not supported with this model."],
  [
    'temperature',
    'OpenAI',
    "Unsupported value: 'temperature' does not support 0.2 with this model. Only the default (1) value is supported.",
  ],
  ['temperature', 'Anthropic', '`temperature` is deprecated for this model.'],
  [
    'temperature',
    'Anthropic',
    '`temperature` may only be set to 1 when thinking is enabled or in adaptive mode.',
  ],
  ['temperature', 'LiteLLM', "gpt-5 models don't support temperature=0.2. Only temperature=1 is supported."],
  ['temperature', 'Moonshot', 'invalid temperature: only 1 is allowed for this model'],
  ['temperature', 'a gateway', 'temperature must be 1 for this model'],
  ['temperature', 'a gateway', 'Extra inputs are not permitted: temperature'],
  ['temperature', 'a gateway', 'body.temperature: Extra inputs are not permitted'],
  ['temperature', 'a gateway', 'Argument not supported on this model: temperature'],
  ['temperature', 'a gateway', 'this model has fixed temperature'],
  ['temperature', 'a gateway', 'Unknown parameter: temperature'],
  ['temperature', 'a gateway', 'The temperature setting cannot be changed for this model'],
  ['streaming', 'a gateway', 'streaming is disabled on this endpoint'],
  ['streaming', 'a gateway', 'Only non-streaming requests are supported'],
  ['streaming', 'a gateway', 'stream must be false'],
  ['streaming', 'a gateway', 'The stream parameter is not allowed'],
  ['streaming', 'a gateway', 'Stream mode is unavailable'],

  [
    'documents',
    'Qwen',
    "Invalid value: file. Supported values are: 'text','image_url','video_url' and 'video'.",
  ],
  ['documents', 'OpenAI', "Invalid Value: 'file'. This model does not support file content types."],
  ['documents', 'Gemini', 'Unsupported MIME type: application/pdf'],
  ['documents', 'Gemini', 'Audio input modality is not enabled for models/gemma-3-27b-it'],
  ['documents', 'Bedrock', "This model doesn't support documents."],
  ['documents', 'a gateway', 'this model does not support PDF input'],
  ['documents', 'DeepSeek', 'messages[1]: unknown variant `file`, expected `text` at line 1 column 210'],
  [
    'streaming',
    'OpenAI',
    "Unsupported value: 'stream' does not support true with this model. Only the default (false) value is supported.",
  ],
  [
    'streaming',
    'OpenAI',
    'Your organization must be verified to stream this model. Please go to the settings and click on Verify Organization.',
  ],
  ['streaming', 'Bedrock', "This model doesn't support tool use in streaming mode."],
  ['streaming', 'Bedrock', 'The model is unsupported for streaming'],
  ['streaming', 'a gateway', '"stream" is not supported'],
  ['streaming', 'a gateway', 'This model does not support streaming.'],
  ['streaming', 'a gateway', 'Streaming is not supported for this model'],
];

describe('a refusal names the feature that is left out', () => {
  for (const [feature, who, words, status] of REFUSALS) {
    it(`${feature}: ${who}: ${words}`, () => {
      assert.equal(refusedFeature(refusal(words, status), FULL), feature);
    });
  }
});

it('a feature that the request does not have is not the reason', () => {
  for (const [, , words, status] of REFUSALS)
    assert.equal(refusedFeature(refusal(words, status), BARE), undefined, words);
});

describe('a refusal for another reason names no feature', () => {
  const others: readonly (readonly [words: string, status?: number])[] = [
    ['messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes'],
    ['Could not process image'],
    ['This model does not support images larger than 8000 pixels'],
    ['Unsupported image format. Supported: png, jpeg, webp, gif'],
    ['The image format is not supported'],
    ['Invalid image URL: image URLs are not supported'],
    ['This model does not support files larger than 32 MB'],
    ['The PDF specified is password protected.'],
    ['The audio file could not be decoded or its format is not supported.'],
    ['temperature: range: 0..1'],
    ['temperature must be between 0 and 2'],
    ["Invalid schema for function 'a__b': 'x' is not valid under any of the given schemas"],
    ['tools.0.function.name: string does not match pattern'],
    ["Invalid 'tools': array too long. Expected an array with maximum length 128."],
    ["This model does not support 'tool_choice' set to required"],
    ['messages: text content blocks must be non-empty'],
    ['This model only support stream mode, please enable the stream parameter to access the model.'],
    ['Unrecognized request argument supplied: stream_options'],
    [
      "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
    ],
    ['temperature must be 1 or less'],
    ["Invalid type for 'tools[0].function.description': expected a string, but got an array instead."],
    ["messages[0].role must be one of 'system', 'user' or 'assistant'"],
    ['response_format: Extra inputs are not permitted'],
    ['This model only supports text up to 4096 characters'],
    ["This model's maximum context length is 8192 tokens. However, your messages and tools are longer."],
    ['Model does not support images', 401],
    ['Model does not support images', 429],
  ];
  for (const [words, status] of others) {
    it(`${status ?? 400} ${words}`, () =>
      assert.equal(refusedFeature(refusal(words, status), FULL), undefined));
  }
});

async function collect(events: AsyncIterable<ModelEvent>): Promise<readonly ModelEvent[]> {
  const all: ModelEvent[] = [];
  for await (const event of events) all.push(event);
  return all;
}

const REQUEST: ModelRequest = {
  system: 'Be terse.',
  messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Hi' }] }],
  tools: [{ name: 'a__b', tool: { server: 'a', tool: 'b' }, description: '', inputSchema: {} }],
  temperature: 0.5,
};
const WORD: ModelEvent = { kind: 'text', text: 'Hi' };
const NO_TOOLS = 'm does not support tools';
const NO_STREAM = 'This model does not support streaming.';

const refuse = (reason: string, status = 400) =>
  new ModelError({ message: reason, failure: { kind: 'refused', reason, status }, status });

/** A model whose replies are given; an error is thrown in its place. */
function createModel(
  replies: readonly (readonly (ModelEvent | Error)[])[],
  provider = 'openai-chat',
  request = REQUEST,
) {
  const sent: ModelRequest[] = [];
  const learned: string[] = [];
  const leftOut: string[] = [];
  const known = new Set<RequestFeature>();
  const model: ChatModel = {
    name: 'm',
    provider,
    accepts: () => true,
    preview: async (request) => JSON.stringify(request),
    async *stream(request) {
      sent.push(request);
      for (const each of replies[sent.length - 1] ?? []) {
        if (each instanceof Error) throw each;
        yield each;
      }
    },
  };
  const limits = {
    known: () => known,
    learn: async (feature: RequestFeature, reason: string) => {
      known.add(feature);
      learned.push(`${feature}: ${reason}`);
    },
    leftOutImages: (reason: string) => void leftOut.push(reason),
  };
  const limited = limitModel(model, limits);
  const run = () => collect(limited.stream(request, new AbortController().signal));
  return { limited, run, sent, learned, leftOut, known };
}

it('each refused feature is left out once, and remembered when the reply begins', async () => {
  const { run, sent, learned } = createModel([[refuse(NO_TOOLS)], [refuse(NO_STREAM)], [WORD, WORD], [WORD]]);
  assert.deepEqual(await run(), [WORD, WORD]);
  assert.deepEqual(
    sent.map(({ tools, isWhole = false }) => [tools.length, isWhole]),
    [
      [1, false],
      [0, false],
      [0, true],
    ],
  );
  assert.deepEqual(learned, [`tools: ${NO_TOOLS}`, `streaming: ${NO_STREAM}`]);
  await run();
  assert.deepEqual([sent.length, sent[3]?.tools, sent[3]?.isWhole], [4, [], true]);
});

it('a feature without which the request fails too is not remembered', async () => {
  for (const second of [refuse(NO_TOOLS), refuse('Something else.'), refuse('Slow down.', 429)]) {
    const { run, sent, learned } = createModel([[refuse(NO_TOOLS)], [second], [WORD]]);
    await assert.rejects(run(), second);
    assert.deepEqual([sent.length, learned], [2, []]);
  }
});

describe('an image that the provider cannot use', () => {
  const words = [
    'messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
    'Could not process image',
    'messages.2.content.0.tool_result.content.1.image.source.base64.data: At least one of the image dimensions exceed max allowed size: 8000 pixels',
    'You uploaded an unsupported image. Please make sure your image has of one of the following formats',
    'The image data you provided does not represent a valid image.',
    'Unable to process input image. Please retry or report in https://example.org',
    'Failed to load image or audio file',
  ];
  for (const reason of words) {
    it(`is left out, and the user is told: ${reason.slice(0, 50)}`, async () => {
      const { run, sent, learned, leftOut } = createModel([[refuse(reason)], [WORD]], undefined, FULL);
      await run();
      assert.deepEqual([learned, leftOut], [[], [reason]]);
      assert.deepEqual(
        sent.map((each) => hasFeature(each, 'images')),
        [true, false],
      );
    });
  }

  const data = 'iVBORw0KGgo=';
  const bodies: Readonly<Record<string, readonly [request: object, path: string]>> = {
    Anthropic: [
      {
        messages: [
          {
            content: [
              { type: 'image', source: { data } },
              {
                type: 'tool_result',
                content: [
                  { type: 'text', text: 'a' },
                  { type: 'image', source: { data } },
                ],
              },
            ],
          },
        ],
      },
      'messages.0.content.1.tool_result.content.1.image.source.base64.data',
    ],
    'OpenAI, chat': [
      { messages: [{ role: 'user', content: [{ type: 'image_url' }, { type: 'image_url' }] }] },
      'messages[0].content[1].image_url.url',
    ],
    'OpenAI, responses': [
      { input: [{ content: [{ type: 'input_image' }] }, { content: [{ type: 'input_image' }] }] },
      'input[1].content[0].image_url',
    ],
    Gemini: [
      { contents: [{ parts: [0, 1].map(() => ({ inlineData: { mimeType: 'image/png', data } })) }] },
      'contents[0].parts[1].inline_data',
    ],
  };
  const two = { ...FULL, messages: [{ role: 'user' as const, parts: [IMAGE, { ...IMAGE, name: 'b.png' }] }] };
  const named = (request: unknown, response: string) => {
    const reason = 'Could not process image';
    const facts = { message: reason, failure: { kind: 'refused' as const, reason } };
    return new ModelError({ ...facts, refused: { request, response } });
  };
  for (const [who, [body, path]] of Object.entries(bodies)) {
    it(`is the only one left out if its path is named: ${who}`, async () => {
      const { run, sent } = createModel([[named(body, `Invalid: ${path}.`)], [WORD]], undefined, two);
      await run();
      assert.match(JSON.stringify(sent[1]?.messages), /^(?=.*"name":"a\.png").*\[b\.png: image\/png/);
    });
  }

  it('is not guessed if the request was sent with another number of images', async () => {
    const [body, path] = bodies['Gemini'] ?? [];
    const { run, sent } = createModel([[named({ more: [body, body] }, path ?? '')], [WORD]], undefined, two);
    await run();
    assert.match(JSON.stringify(sent[1]?.messages), /\[a\.png: .*\[b\.png: /);
  });

  it('is not looked for in a request without images, or twice', async () => {
    const error = refuse('Could not process image');
    const bare = createModel([[error], [WORD]], undefined, BARE);
    await assert.rejects(bare.run(), error);
    const again = createModel([[error], [error], [WORD]], undefined, FULL);
    await assert.rejects(again.run(), error);
    assert.deepEqual([bare.sent.length, again.sent.length, again.leftOut], [1, 2, []]);
  });
});

it('a reply that has begun is never requested again', async () => {
  const error = refuse(NO_TOOLS);
  const { run, sent } = createModel([[WORD, error], [WORD]]);
  await assert.rejects(run(), error);
  assert.equal(sent.length, 1);
});

it('a bug is not a refusal', async () => {
  const error = new Error(NO_TOOLS);
  const { run, sent } = createModel([[error], [WORD]]);
  await assert.rejects(run(), error);
  assert.equal(sent.length, 1);
});

it('a model of VS Code has no system role and always streams, so neither can be left out', async () => {
  for (const reason of [NO_STREAM, 'System role not supported']) {
    const { run, sent } = createModel([[refuse(reason)], [WORD]], 'vscode');
    await assert.rejects(run(), { message: reason });
    assert.equal(sent.length, 1);
  }
});

it('a model that refuses images accepts none, and the preview shows what is really sent', async () => {
  const { limited, known } = createModel([]);
  assert.ok(limited.accepts('image/png'));
  known.add('images').add('tools');
  assert.deepEqual([limited.accepts('image/png'), limited.accepts('application/pdf')], [false, true]);
  assert.equal(limited.takesTools?.(), false);
  assert.match(await limited.preview(REQUEST), /"tools":\[\]/);
});

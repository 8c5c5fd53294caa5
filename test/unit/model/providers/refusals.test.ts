import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { toFailure } from '../../../../src/model/providers/failure.ts';
import { refusedFeature } from '../../../../src/model/providers/refusals.ts';
import type { FilePart, ModelRequest, RequestFeature } from '../../../../src/ports/models.ts';

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
    ['Conversation roles must alternate user/assistant/user/assistant/...'],
    ["This model's maximum context length is 8192 tokens. However, your messages and tools are longer."],
    ['Model does not support images', 401],
    ['Model does not support images', 429],
  ];
  for (const [words, status] of others) {
    it(`${status ?? 400} ${words}`, () =>
      assert.equal(refusedFeature(refusal(words, status), FULL), undefined));
  }
});

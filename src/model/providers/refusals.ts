import type { FailureKind } from '../../ports/failures.ts';
import type { ModelFailure, ModelRequest, RequestFeature } from '../../ports/models.ts';
import { hasFeature } from '../request/features.ts';

/**
 * The feature of the request because of which a model refused it. Undefined unless the provider's words name a feature
 * that the request has: everything else is reported to the user.
 */
export function refusedFeature(
  { failure, message }: Pick<ModelFailure, 'failure' | 'message'>,
  request: ModelRequest,
): RequestFeature | undefined {
  if (failure && !REFUSALS.has(failure.kind)) return undefined;
  const reason = (failure?.reason ?? message).slice(0, MAX_REASON_CHARS);
  return WORDINGS.find(([feature, words]) => hasFeature(request, feature) && words.test(reason))?.[0];
}

/** llama.cpp reports images with status 500, OpenRouter with 404. */
const REFUSALS: ReadonlySet<FailureKind> = new Set(['refused', 'failed', 'model']);
/** Longer texts quote the request. */
const MAX_REASON_CHARS = 2000;

/** Written by providers around a name. */
const Q = '[\'"`’]?';
const DOES_NOT = `(?:\\bnot|n['’]t|\\bcannot) (?:yet |currently )?(?:support|accept)(?: the| any)?`;
const IS_NOT = `(?: (?:is|are))? (?:currently )?(?:not (?:currently )?(?:supported|enabled|allowed|available|accepted)|unsupported)`;
/** Excludes what is about one kind of an input, such as “does not support images larger than 5 MB”. */
const AT_END = `(?=\\s*(?:[.,;:!/()\\-–—]|$|\\b(?:for|in|with|by|on|when|and|or)\\b))`;

const TOOLS = '(?:tools|tool[ _-]?(?:use|usage|calls?|calling)|function[ _-]?(?:calls?|calling)|functions)';
const SYSTEM = `(?:system|developer)${Q}(?: (?:role|messages?|prompts?|instructions?))${Q}`;
const IMAGES =
  '(?:images?|vision|multi-?modal)(?: (?:inputs?|contents?|content blocks?|messages?|modality))*';
const MUST_BE_TEXT = `content${Q}\\s*:?\\s*(?:value )?must be a string`;
const DOCUMENTS =
  '(?:pdfs?|documents?|files?|audio)(?: (?:inputs?|files?|contents?|content (?:types?|blocks?|parts?)|modality))*';

/** By feature, the more specific ones first. The comments name who writes it. */
const WORDINGS: readonly (readonly [RequestFeature, RegExp])[] = [
  // Before the tools: Bedrock’s models “don't support tool use in streaming mode”.
  ...wordings('streaming', [
    // OpenAI
    `unsupported (?:value|parameter): ${Q}stream${Q}(?![_.\\w])`,
    'must be verified to stream',
    // Bedrock
    'support [\\w ]{0,40}in streaming mode',
    'unsupported for streaming',
    `${DOES_NOT} ${Q}stream(?:ing)?${Q}${AT_END}`,
    `(?:^|[^.\\w])${Q}stream(?:ing)?(?:\\s?[=:]\\s?true)?${Q}(?: mode| responses?)?${IS_NOT}`,
  ]),
  ...wordings('images', [
    // LM Studio, Ollama, Anthropic, Bedrock
    `${DOES_NOT} ${Q}${IMAGES}${Q}${AT_END}`,
    // llama.cpp, xAI, Gemini
    `(?:^|[^.\\w])${Q}${IMAGES}${Q}${IS_NOT}`,
    // Ollama
    'missing data required for image input',
    // vLLM
    'at most 0 (?:image|multi-?modal)',
    'is not a (?:multi-?modal|vision) model',
    // OpenRouter
    'no endpoints found that support (?:image|vision)',
    // DeepSeek
    `unknown variant ${Q}(?:image|input_image)`,
    // OpenAI, Azure
    `(?:image_url|input_image|images?)${Q} (?:is|are) only supported`,
    `(?:unsupported|unknown|invalid) (?:content |message )?(?:part |block )?(?:type|value)s?:? ${Q}(?:image_url|input_image|image)\\b`,
    `(?:image_url|input_image)${Q}${IS_NOT}`,
    // Groq
    MUST_BE_TEXT,
    // LM Studio, for the results of tools
    'only text [\\w ]{0,30}(?:is|are) supported',
  ]),
  ...wordings('documents', [
    // OpenAI, Anthropic, Bedrock
    `${DOES_NOT} ${Q}${DOCUMENTS}${Q}${AT_END}`,
    // Gemini
    `(?:^|[^.\\w])${Q}${DOCUMENTS}${Q}${IS_NOT}`,
    'unsupported mime type:? (?:application/pdf|audio/)',
    // Qwen
    `(?:unsupported|unknown|invalid) (?:content |message )?(?:part |block )?(?:type|value)s?:? ${Q}(?:file|input_file|input_audio|document)\\b`,
    // DeepSeek
    `unknown variant ${Q}(?:file|input_file|input_audio|document)\\b`,
    // OpenRouter
    'no endpoints found that support (?:file|pdf|audio)',
    MUST_BE_TEXT,
  ]),
  ...wordings('tools', [
    // Ollama, DeepSeek, Bedrock
    `${DOES_NOT} ${Q}${TOOLS}${Q}${AT_END}`,
    // OpenAI, Groq, DeepInfra, Mistral, Gemini
    `${TOOLS}${Q}${IS_NOT}`,
    `(?:unsupported|unrecognized|unknown) (?:request )?(?:parameter|argument)s?(?: supplied)?: ${Q}tools${Q}(?![_.\\w])`,
    // OpenRouter
    'no endpoints found that support tool',
    // vLLM
    'tool choice requires --enable-auto-tool-choice',
    // llama.cpp
    'tools param requires --jinja',
    `unknown variant ${Q}tool\\b`,
  ]),
  ...wordings('system', [
    // The template of Gemma, in vLLM and llama.cpp
    `${SYSTEM}${IS_NOT}`,
    // Bedrock
    `${DOES_NOT} ${Q}${SYSTEM}${AT_END}`,
    // OpenAI: “'messages[0].role' does not support 'system' with this model”
    `role${Q} (?:does )?${DOES_NOT} ${Q}(?:system|developer)\\b`,
    `invalid value: ${Q}(?:system|developer)${Q}`,
    `(?:system|developer)${Q} is not one of`,
    `(?:invalid|unknown|unsupported|unexpected) (?:message )?role:? ${Q}(?:system|developer)\\b`,
    // DeepSeek
    `unknown variant ${Q}(?:system|developer)\\b`,
  ]),
  ...wordings('temperature', [
    // OpenAI
    `unsupported (?:parameter|value): ${Q}temperature\\b`,
    // Anthropic
    `temperature${Q}(?: parameter)? is (?:deprecated|not supported|unsupported|not allowed)`,
    `temperature${Q} (?:may|can|must) only be (?:set to )?1\\b`,
    // LiteLLM: “Only temperature=1 is supported”
    `${DOES_NOT} (?:parameters?:? )?\\[?${Q}temperature\\b`,
    'only temperature\\s?=\\s?1',
    // Moonshot
    'invalid temperature: only [\\d.]+ is allowed',
  ]),
];

function wordings(
  feature: RequestFeature,
  patterns: readonly string[],
): readonly (readonly [RequestFeature, RegExp])[] {
  return patterns.map((pattern) => [feature, new RegExp(pattern, 'i')] as const);
}

import type { FailureKind } from '../../ports/failures.ts';
import type {
  ChatModel,
  ModelEvent,
  ModelFailure,
  ModelRequest,
  RequestFeature,
} from '../../ports/models.ts';
import type { KnownLimits } from '../config/limits.ts';
import { featureOfFile, hasFeature, leaveOut } from '../request/features.ts';
import { isModelFailure } from './retry.ts';

/** A model whose requests leave out what it has refused before, and what it refuses now. */
export function limitModel(model: ChatModel, limits: KnownLimits): ChatModel {
  return {
    ...model,
    accepts: (mimeType) => model.accepts(mimeType) && !limits.known().has(featureOfFile(mimeType)),
    takesTools: () => model.takesTools?.() !== false && !limits.known().has('tools'),
    hasOwnTool: (tool) => model.hasOwnTool?.(tool) === true && !limits.known().has('tools'),
    stream: (request, signal) => streamAccepted({ model, limits, request, signal }),
    preview: (request) => model.preview(leaveOut(request, limits.known())),
  };
}

interface LimitedRequest {
  readonly model: ChatModel;
  readonly limits: KnownLimits;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
}

/**
 * Repeats a refused request without the feature that was refused, as long as nothing of the reply has arrived. A
 * feature is left out once, so the number of repetitions is limited. It is remembered only if that has helped. If only
 * an image was refused, so that every later request would be too, the request is repeated without images.
 */
async function* streamAccepted(limited: LimitedRequest): AsyncGenerator<ModelEvent, void, undefined> {
  const { model, limits, request, signal } = limited;
  const refused = new Map<RequestFeature, string>();
  let badImage: string | undefined;
  for (;;) {
    const withoutImages: readonly RequestFeature[] = badImage === undefined ? [] : ['images'];
    const sent = leaveOut(request, new Set([...limits.known(), ...refused.keys(), ...withoutImages]));
    let hasBegun = false;
    try {
      for await (const event of model.stream(sent, signal)) {
        if (!hasBegun) for (const [feature, reason] of refused) await limits.learn(feature, reason);
        if (!hasBegun && badImage !== undefined) limits.leftOutImages?.(badImage);
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      if (hasBegun || signal.aborted || !isModelFailure(error)) throw error;
      const feature = refusedFeature(error, sent);
      const reason = error.failure?.reason ?? error.message;
      if (feature !== undefined && isSentTo(model, feature)) refused.set(feature, reason);
      else if (feature === undefined && refusesAnImage(error, sent)) badImage = reason;
      else throw error;
    }
  }
}

/** The API of VS Code has no system role, and always streams. */
function isSentTo({ provider }: ChatModel, feature: RequestFeature): boolean {
  return provider !== 'vscode' || (feature !== 'system' && feature !== 'streaming');
}

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

/** Whether the provider could not use one of the images, although the model accepts images. */
export function refusesAnImage(
  { failure, message }: Pick<ModelFailure, 'failure' | 'message'>,
  request: ModelRequest,
): boolean {
  if (failure && failure.kind !== 'refused') return false;
  return (
    hasFeature(request, 'images') && BAD_IMAGE.test((failure?.reason ?? message).slice(0, MAX_REASON_CHARS))
  );
}

const BAD_IMAGE = new RegExp(
  [
    // Anthropic
    'could not process image',
    '\\bcontent\\.\\d+\\.(?:tool_result\\.content\\.\\d+\\.|\\w+\\.)*image\\b',
    'image (?:dimensions? )?exceeds?\\b',
    'image does not match',
    // OpenAI
    '(?:unsupported|invalid|corrupt(?:ed)?|malformed) image\\b',
    'image[\\w ]{0,40} (?:is not|not a|does not represent a) valid\\b',
    'image_parse_error|invalid_image',
    'too many images',
    // Gemini, llama.cpp and gateways
    '(?:unable|failed|not able) to (?:process|decode|load|read|open|parse)[\\w ]{0,20} image\\b',
    "(?:can(?:not|['’]t)|could not) (?:process|decode|load|read|open|parse|identify)[\\w ]{0,20} image\\b",
    'images? (?:larger|bigger|wider|taller) than\\b',
    'image (?:file )?(?:format|type)[\\w ]{0,20} (?:not supported|unsupported)',
  ].join('|'),
  'i',
);

/** llama.cpp reports images with status 500, OpenRouter with 404. */
const REFUSALS: ReadonlySet<FailureKind> = new Set(['refused', 'failed', 'model']);
/** Longer texts quote the request. */
const MAX_REASON_CHARS = 2000;

/** Written by providers around a name. */
const Q = '[\'"`’]?';
const DOES_NOT = `(?:(?:\\bnot|n['’]t|\\bcannot) (?:yet |currently )?(?:support|accept)|\\b(?:does|do|can)(?: ?not|n['’]t) (?:process|handle|take|have|allow|use)|\\b(?:not capable of|unable to|incapable of) (?:using|use|handling|handle|processing|process))(?: the| any| an?)?`;
const IS_NOT = `(?: (?:is|are))? (?:currently )?(?:not (?:currently )?(?:supported|enabled|allowed|available|accepted|permitted)|unsupported|disabled|unavailable)`;
/** Excludes what is about one kind of an input, such as “does not support images larger than 5 MB”. */
const AT_END = `(?=\\s*(?:[.,;:!/()\\-–—]|$|\\b(?:for|in|with|by|on|when|and|or)\\b))`;

/** A field of the request that is not known, as OpenAI and Pydantic write it. */
const unknownField = (field: string): string =>
  `(?:unsupported|not supported|unrecognized|unknown|unexpected|not permitted|not allowed)[\\w ]{0,40}: ${Q}${field}${Q}(?![_.\\w])|(?:^|[\\s'"\`]|\\bbody\\.)${field}${Q}: extra (?:inputs|fields)(?: are)? not permitted`;

const TOOLS =
  '(?:tools|tool[ _-]?(?:use|usage|calls?|calling)|function[ _-]?(?:calls?|calling)|functions)(?: (?:support|capabilit(?:y|ies)))?';
const SYSTEM = `(?:system|developer)${Q}(?: (?:role|messages?|prompts?|instructions?))${Q}`;
const IMAGES =
  '(?:images?|vision|multi-?modal)(?: (?:inputs?|contents?|content blocks?|messages?|modality|support|capabilit(?:y|ies)))*';
const MUST_BE_TEXT = `content(?:\\.str)?${Q}\\s*:?\\s*(?:(?:value )?must be a string|(?:input )?should be a valid string|expected a string,? but got an array)|invalid type: sequence, expected a string`;
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
    `(?:^|[^.\\w])${Q}stream(?:ing)?(?:\\s?[=:]\\s?true)?${Q}(?: (?:mode|parameter|requests?|responses?))?${IS_NOT}`,
    `stream${Q} must be (?:set to )?${Q}false`,
    'only non-?stream',
    unknownField('stream'),
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
    `(?:image_url|input_image)${Q}(?: (?:content|type|parts?|blocks?))*${IS_NOT}`,
    `(?:unsupported modality|item type in content):? ${Q}(?:image|vision)`,
    `\\bno ${IMAGES}${AT_END}`,
    // Templates and gateways
    `only (?:supports?|accepts?|handles?) text(?: (?:inputs?|contents?|messages?|modality|prompts?))?${AT_END}`,
    'text-only model',
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
    unknownField('tools'),
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
    // Templates in vLLM and llama.cpp. All other roles of a request alternate.
    'roles must alternate',
    'only user and assistant roles',
    'first message must (?:use the|be from the|be from a|be a|have the role) user',
    `role${Q}:? (?:must|should) be (?:one of|either):? (?![^.]*\\b(?:system|developer)\\b)`,
    `role${Q}: input should be ${Q}user${Q}(?:,| or) ${Q}assistant`,
  ]),
  ...wordings('temperature', [
    // OpenAI
    `unsupported (?:parameter|value): ${Q}temperature\\b`,
    unknownField('temperature'),
    // Anthropic
    `temperature${Q}(?: (?:parameter|setting))?(?: is deprecated| can(?:not|['’]t) be|${IS_NOT})`,
    `temperature${Q} (?:may|can|must) (?:only )?be (?:set to )?(?:exactly )?1\\b(?! (?:or|to|and)\\b|\\.[1-9])`,
    'fixed temperature',
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

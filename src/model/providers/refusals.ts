import { isObject } from '../../base/json.ts';
import type { FailureKind } from '../../ports/failures.ts';
import type {
  AssistantPart,
  CallResult,
  ChatModel,
  ContentPart,
  FilePart,
  ModelEvent,
  ModelFailure,
  ModelMessage,
  ModelRequest,
  RequestFeature,
} from '../../ports/models.ts';
import type { KnownLimits } from '../config/knownLimits.ts';
import {
  describeUnsent,
  ERROR_LEAD,
  filesOf,
  joinTexts,
  mapContent,
  mergeMessages,
  textPart,
  userText,
} from '../request/messages.ts';
import { featuresIn } from './refusalWords.ts';
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
 * an image was refused, so that every later request would be too, the request is repeated without the image that the
 * provider names, or without all of them.
 */
async function* streamAccepted(limited: LimitedRequest): AsyncGenerator<ModelEvent, void, undefined> {
  const { model, limits, request, signal } = limited;
  const refused = new Map<RequestFeature, string>();
  const badImages = new Set<FilePart>();
  let badImage: string | undefined;
  for (;;) {
    const withoutFiles = leaveOutFiles(request, badImages);
    const sent = leaveOut(withoutFiles, new Set([...limits.known(), ...refused.keys()]));
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
      const reason = error.failure?.reason ?? error.message;
      const feature = refusesAnImage(error, sent) ? 'image' : refusedFeature(error, sent);
      if (feature === 'image') {
        badImage = reason;
        for (const image of refusedImages(error, sent, badImages.size)) badImages.add(image);
      } else if (feature !== undefined && isSentTo(model, feature)) refused.set(feature, reason);
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
  if (failure?.kind === 'failed' && UNAVAILABLE.test(reason)) return undefined;
  return featuresIn(reason, failure?.model).find((feature) => hasFeature(request, feature));
}

/** Whether the provider could not use one of the images, although the model accepts images. */
function refusesAnImage(
  { failure, message }: Pick<ModelFailure, 'failure' | 'message'>,
  request: ModelRequest,
): boolean {
  if (failure && failure.kind !== 'refused') return false;
  return (
    hasFeature(request, 'images') && BAD_IMAGE.test((failure?.reason ?? message).slice(0, MAX_REASON_CHARS))
  );
}

const MAX_NAMED_IMAGES = 3;

/** Those that the provider names, or all. */
function refusedImages(
  { refused }: ModelFailure,
  request: ModelRequest,
  already: number,
): readonly FilePart[] {
  const images = imagesOf(request);
  const sent = imagesIn(refused?.request);
  // A tall image may have been sent as several.
  if (sent.length !== images.length || already >= MAX_NAMED_IMAGES) return images;
  const paths = refused?.response.match(/\b(?:messages|input|contents)(?:\.\w+|\[\d+\])+/g) ?? [];
  const named = new Set(paths.map((path) => imageAt(refused?.request, path)));
  const found = images.filter((_, at) => named.has(sent[at]));
  return found.length === 0 ? images : found;
}

/** The image at a path such as `messages.3.content.0.tool_result.content.1.image`, which also names types. */
function imageAt(body: unknown, path: string): unknown {
  let value = body;
  for (const step of path.match(/\w+/g) ?? []) {
    if (isSentImage(value)) return value;
    if (Array.isArray(value)) value = value[Number(step)];
    else if (isObject(value) && step in value) value = value[step];
  }
  return isSentImage(value) ? value : undefined;
}

function imagesIn(value: unknown): readonly unknown[] {
  if (isSentImage(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(imagesIn) : [];
}

const IMAGE_TYPES: ReadonlySet<unknown> = new Set(['image', 'image_url', 'input_image']);

function isSentImage(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { type, inlineData } = value;
  const isGemini = isObject(inlineData) && String(inlineData['mimeType']).startsWith('image/');
  return isGemini || IMAGE_TYPES.has(type);
}

const BAD_IMAGE = new RegExp(
  [
    // Anthropic
    'could not process image',
    '\\bcontent\\.\\d+\\.(?:tool_result\\.content\\.\\d+\\.|\\w+\\.)*image\\b',
    'image (?:dimensions? )?exceeds?\\b',
    'image does not match',
    '(?:the|this|your) (?:\\w+ )?image (?:you \\w+ )?(?:is|was) (?:not supported|rejected|unsupported)',
    // OpenAI
    '(?:unsupported|invalid|corrupt(?:ed)?|malformed) image\\b(?! (?:inputs?|contents?|parts?|modality))',
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
/** A server that fails may only be busy. */
const UNAVAILABLE = /\b(?:un|not )available\b/i;
/** Longer texts quote the request. */
const MAX_REASON_CHARS = 2000;

export function hasFeature(request: ModelRequest, feature: RequestFeature): boolean {
  return FEATURES[feature].isIn(request);
}

/** The same request for a model that refuses these features. What they say is sent as text where possible. */
export function leaveOut(request: ModelRequest, features: Iterable<RequestFeature>): ModelRequest {
  return [...features].reduce((rest, feature) => FEATURES[feature].leaveOut(rest), request);
}

function imagesOf({ messages }: ModelRequest): readonly FilePart[] {
  return messages.flatMap(filesOf).filter(isImage);
}

/** The same request with a line in the place of each of these files. */
function leaveOutFiles(request: ModelRequest, files: ReadonlySet<FilePart>): ModelRequest {
  return files.size === 0 ? request : describeFiles(request, (file) => files.has(file));
}

interface Feature {
  isIn(request: ModelRequest): boolean;
  /** In the result, `isIn` is false. */
  leaveOut(request: ModelRequest): ModelRequest;
}

const FEATURES: Readonly<Record<RequestFeature, Feature>> = {
  images: {
    isIn: (request) => imagesOf(request).length > 0,
    leaveOut: (request) => describeFiles(request, isImage),
  },
  documents: {
    isIn: ({ messages }) => !messages.flatMap(filesOf).every(isImage),
    leaveOut: (request) => describeFiles(request, (file) => !isImage(file)),
  },
  tools: {
    isIn: ({ tools, ownTools = [], messages }) =>
      tools.length + ownTools.length > 0 || messages.some(holdsCalls),
    leaveOut: (request) => ({
      ...request,
      tools: [],
      ownTools: [],
      messages: mergeMessages(request.messages.map(callsAsText)),
    }),
  },
  system: {
    isIn: ({ system }) => system.trim() !== '',
    leaveOut: (request) => {
      if (request.system.trim() === '') return request;
      return {
        ...request,
        system: '',
        messages: mergeMessages([userText(request.system), ...request.messages]),
      };
    },
  },
  temperature: {
    isIn: ({ temperature }) => temperature !== undefined,
    leaveOut: (request) => ({ ...request, temperature: undefined }),
  },
  streaming: {
    isIn: ({ isWhole }) => isWhole !== true,
    leaveOut: (request) => ({ ...request, isWhole: true }),
  },
};

export function isImage({ mimeType }: { readonly mimeType: string }): boolean {
  return mimeType.startsWith('image/');
}

/** The feature that a request has with a file of this type. */
export function featureOfFile(mimeType: string): RequestFeature {
  return isImage({ mimeType }) ? 'images' : 'documents';
}

type IsLeftOut = (file: FilePart) => boolean;

function describeFiles(request: ModelRequest, isLeftOut: IsLeftOut): ModelRequest {
  const messages = request.messages.map((message): ModelMessage => {
    if (message.role !== 'assistant') return mapContent(message, (parts) => withoutFiles(parts, isLeftOut));
    const parts = message.parts.map(
      (part): AssistantPart =>
        part.kind === 'file' && isLeftOut(part) ? { kind: 'text', text: describeUnsent(part) } : part,
    );
    return { role: 'assistant', parts: joinTexts(parts) };
  });
  return { ...request, messages };
}

/** Adjacent texts become one, because servers without files often accept only a string as content. */
function withoutFiles(parts: readonly ContentPart[], isLeftOut: IsLeftOut): readonly ContentPart[] {
  const rest: ContentPart[] = [];
  for (const part of parts) {
    const seen = part.kind === 'file' && isLeftOut(part) ? textPart(describeUnsent(part)) : part;
    const last = rest.at(-1);
    if (seen.kind === 'text' && last?.kind === 'text') {
      rest[rest.length - 1] = textPart(`${last.text}\n\n${seen.text}`);
    } else rest.push(seen);
  }
  return rest;
}

function holdsCalls(message: ModelMessage): boolean {
  return message.role === 'tool' || (message.role === 'assistant' && message.parts.some(isCall));
}

function isCall({ kind }: AssistantPart): boolean {
  return kind === 'call';
}

/** In brackets, so that the model takes them as notes about the conversation and does not imitate them. */
function callsAsText(message: ModelMessage): ModelMessage {
  if (message.role === 'user') return message;
  if (message.role === 'tool') return { role: 'user', parts: message.results.flatMap(resultParts) };
  return { role: 'assistant', parts: message.parts.reduce(addAsText, []) };
}

function resultParts({ name, isError, parts }: CallResult): readonly ContentPart[] {
  return [textPart(`[Result of the tool ${name}]`), ...(isError ? [textPart(ERROR_LEAD)] : []), ...parts];
}

function addAsText(parts: readonly AssistantPart[], part: AssistantPart): readonly AssistantPart[] {
  if (part.kind !== 'call') return [...parts, part];
  const text = `[Called the tool ${part.name} with ${JSON.stringify(part.arguments)}]`;
  const last = parts.at(-1);
  // Some providers join the texts of a reply without a separator.
  return last?.kind === 'text'
    ? [...parts.slice(0, -1), { ...last, text: `${last.text}\n\n${text}` }]
    : [...parts, { kind: 'text', text }];
}

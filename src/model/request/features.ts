import type {
  AssistantPart,
  CallResult,
  ContentPart,
  FilePart,
  ModelMessage,
  ModelRequest,
  RequestFeature,
} from '../../ports/models.ts';
import {
  describeUnsent,
  ERROR_LEAD,
  filesOf,
  joinTexts,
  mapContent,
  mergeMessages,
  textPart,
  userText,
} from './messages.ts';

export function hasFeature(request: ModelRequest, feature: RequestFeature): boolean {
  return FEATURES[feature].isIn(request);
}

/** The same request for a model that refuses these features. What they say is sent as text where possible. */
export function leaveOut(request: ModelRequest, features: Iterable<RequestFeature>): ModelRequest {
  return [...features].reduce((rest, feature) => FEATURES[feature].leaveOut(rest), request);
}

export function imagesOf({ messages }: ModelRequest): readonly FilePart[] {
  return messages.flatMap(filesOf).filter(isImage);
}

/** The same request with a line in the place of each of these files. */
export function leaveOutFiles(request: ModelRequest, files: ReadonlySet<FilePart>): ModelRequest {
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

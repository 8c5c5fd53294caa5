import type {
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import { encodeBase64 } from '../../base/base64.ts';
import { defined, field, isObject, listOf, parseJson, textOf } from '../../base/json.ts';
import type { FinishReason, MadeFile, ModelEvent, ProviderMetadata, Usage } from '../../ports/models.ts';
import { ERROR_REASON, stopReasonOf } from './endings.ts';
import { anthropicFile, ChatFiles, fileOfData, openAiFile, type StoredFile } from './madeFiles.ts';
import { connectionLost, ModelError, type RequestContext, toFailure } from './modelError.ts';
import { OwnCalls } from './ownTools.ts';
import { Sources } from './sources.ts';
import type { Wire } from './wire.ts';

/** Metadata that providers need back. Not the ids of items on their servers: the file is the only state. */
const KEPT = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature', 'phase'];

type StreamPart = LanguageModelV4StreamPart;
type CallEvent = Extract<ModelEvent, { kind: 'call' }>;
type FilePart = Extract<StreamPart, { type: 'file' | 'reasoning-file' }>;
type FinishPart = Extract<StreamPart, { type: 'finish' }>;
type Kind = 'text' | 'reasoning';
type Kept = Readonly<Record<string, unknown>>;

interface ReaderOptions {
  /** Whether the bytes that have arrived contain the end of the reply. They are ahead of the parts. */
  readonly isReceived?: () => boolean;
  /** Opens a file on the provider's server. */
  readonly openFile?: ((stored: StoredFile) => MadeFile) | undefined;
}

/** Turns the stream parts of one reply into events. Throws a `ModelError` for errors in the stream. */
export class EventReader {
  readonly #wire: Wire;
  readonly #context: RequestContext;
  /** The metadata of the open block. */
  #kept: Kept = {};
  /** The kind of the last event, if that was text or reasoning. */
  #last: Kind | undefined;
  #isEmpty = true;
  readonly #names = new Map<string, string>();
  /** Calls of tools that the provider runs itself. */
  readonly #ownInputs = new Set<string>();
  readonly #ownCalls = new OwnCalls();
  readonly #chatFiles = new ChatFiles();
  readonly #sources = new Sources();
  readonly #openFile: ((stored: StoredFile) => MadeFile) | undefined;
  /** Files on the provider's server, by id: a reply may mention one several times. */
  readonly #stored = new Set<string>();
  /** Files that follow the text that is arriving. */
  readonly #behindText: ModelEvent[] = [];
  #hasCalls = false;
  /** Calls that may be cut off. They count only if the stream ends normally. */
  readonly #held: CallEvent[] = [];
  readonly #isReceived: () => boolean;
  #stopReason: string | undefined;
  hasOutput = false;

  constructor(wire: Wire, context: RequestContext, options: ReaderOptions = {}) {
    this.#wire = wire;
    this.#context = context;
    this.#isReceived = options.isReceived ?? (() => false);
    this.#openFile = options.openFile;
  }

  /** The stop reason has been read. Later failures are ignored. */
  get hasEnded(): boolean {
    return this.#stopReason !== undefined;
  }

  read(part: StreamPart): readonly ModelEvent[] {
    switch (part.type) {
      case 'text-start':
        return this.#open(part.providerMetadata);
      case 'reasoning-start':
        return [...this.#divide(), ...this.#open(part.providerMetadata)];
      case 'text-delta':
        return this.#grow('text', part.delta, part.providerMetadata);
      case 'reasoning-delta':
        return this.#grow('reasoning', part.delta, part.providerMetadata);
      case 'text-end':
        return [
          ...this.#words(this.#sources.endBlock()),
          ...this.#close('text', part.providerMetadata),
          ...this.#takeBehindText(),
        ];
      case 'reasoning-end':
        return this.#close('reasoning', part.providerMetadata);
      case 'tool-input-start':
        this.#names.set(part.id, part.toolName);
        if (part.providerExecuted) this.#ownInputs.add(part.id);
        return this.#callInput(part.id, '');
      case 'tool-input-delta':
        return this.#callInput(part.id, part.delta);
      case 'file':
      case 'reasoning-file':
        return this.#file(part);
      case 'tool-result':
        return part.preliminary
          ? this.#partialImage(part.result)
          : [...this.#ownCall(part), ...this.#filesOf(part.result)];
      case 'source':
        // Without a title, it is a page that a search of OpenAI has found.
        if (this.#wire.metadataKey !== 'openai' || part.title !== undefined) this.#sources.see(part);
        this.#behindText.push(...this.#citedFile(part));
        return [];
      case 'raw':
        return this.#raw(part.rawValue);
      case 'tool-call':
        if (!part.providerExecuted) return this.#call(part);
        this.#ownCalls.see(part);
        return [];
      case 'finish':
        return this.#finish(part);
      case 'error':
        if (this.hasEnded || this.#isUnknown(part.error)) return [];
        throw toFailure(part.error, this.#context);
      default:
        return [];
    }
  }

  /** Providers add types of events, and some send empty ones. If there are no others, the format is another one. */
  #isUnknown(error: unknown): boolean {
    if (!isObject(error)) return false;
    const { name, text, value } = error;
    if (name === 'AI_JSONParseError') return text === '';
    return name === 'AI_TypeValidationError' && !(isObject(value) && this.#wire.signs.isKnown(value));
  }

  #open(metadata: SharedV4ProviderMetadata | undefined): readonly ModelEvent[] {
    this.#kept = this.#pick(metadata);
    this.#isEmpty = true;
    return [];
  }

  /** Separates two parts of one reasoning, which the provider signs together. */
  #divide(): readonly ModelEvent[] {
    return this.#last === 'reasoning' ? [{ kind: 'reasoning', text: '\n\n' }] : [];
  }

  #grow(kind: Kind, text: string, metadata: SharedV4ProviderMetadata | undefined): readonly ModelEvent[] {
    this.#kept = { ...this.#kept, ...this.#pick(metadata) };
    if (text === '') return [];
    if (kind === 'text') this.#sources.grow(text);
    this.hasOutput = true;
    this.#last = kind;
    this.#isEmpty = false;
    return [{ kind, text }];
  }

  #close(kind: Kind, metadata: SharedV4ProviderMetadata | undefined): readonly ModelEvent[] {
    const kept: Kept = { ...this.#kept, ...this.#pick(metadata) };
    this.#kept = {};
    // A compatible server may require its reasoning back, although it does not sign it.
    const isUnsigned =
      kind === 'reasoning' && this.#wire.metadataKey === 'openaiCompatible' && !this.#isEmpty;
    const whole = isUnsigned ? { ...kept, reasoningContent: true } : kept;
    const isNothing = Object.keys(whole).length === 0;
    if (isNothing || (kind === 'text' && this.#isEmpty && kept['thoughtSignature'] === undefined)) return [];
    // Signed blocks without text, such as redacted thinking, keep their position.
    const place: readonly ModelEvent[] = this.#isEmpty && this.#last !== kind ? [{ kind, text: '' }] : [];
    this.#last = undefined;
    return [...place, { kind: 'metadata', metadata: { [this.#wire.metadataKey]: whole } }];
  }

  #file(part: FilePart): readonly ModelEvent[] {
    const { mediaType, data } = part;
    const source = data.type === 'data' ? data.data : String(data.url);
    const text = typeof source === 'string' ? source : encodeBase64(source);
    const metadata = this.#metadataOf(part.providerMetadata);
    const isDraft = part.type === 'reasoning-file';
    return this.#made(fileOfData(text, mediaType), defined({ isDraft: isDraft || undefined, metadata }));
  }

  #ownCall(part: Extract<StreamPart, { type: 'tool-result' }>): readonly ModelEvent[] {
    const events = this.#ownCalls.end(part);
    for (const event of events) this.#note(event);
    return events;
  }

  #made(file: MadeFile, more: Partial<ModelEvent & { kind: 'file' }> = {}): readonly ModelEvent[] {
    this.hasOutput = true;
    this.#last = undefined;
    return [{ kind: 'file', file, ...more }];
  }

  /** The files in the result of a tool that the provider ran: an image, or what code wrote. */
  #filesOf(result: unknown): readonly ModelEvent[] {
    if (!isObject(result)) return [];
    const { result: image, content, outputs } = result;
    if (image === '') return this.#made(FAILED_IMAGE);
    if (typeof image === 'string') return this.#made(fileOfData(image, 'image/png'));
    return [
      ...listOf(content).flatMap((each) => {
        const id = textOf(field(each, 'file_id'));
        return id === '' ? [] : this.#storedFile(anthropicFile(id));
      }),
      ...listOf(outputs).flatMap((each) => {
        const url = textOf(field(each, 'url'));
        return url.startsWith('data:') ? this.#made(fileOfData(url)) : [];
      }),
    ];
  }

  #partialImage(result: unknown): readonly ModelEvent[] {
    const image = textOf(field(result, 'result'));
    return image === '' ? [] : this.#made(fileOfData(image, 'image/png'), { isPartial: true });
  }

  /** OpenAI says with a citation which files the code wrote. */
  #citedFile(part: Extract<StreamPart, { type: 'source' }>): readonly ModelEvent[] {
    const { type, containerId, fileId } = part.providerMetadata?.[this.#wire.metadataKey] ?? {};
    if (type !== 'container_file_citation') return [];
    if (typeof containerId !== 'string' || typeof fileId !== 'string') return [];
    const name = part.sourceType === 'document' ? part.filename : undefined;
    return this.#storedFile(openAiFile(containerId, fileId, name));
  }

  #storedFile(stored: StoredFile): readonly ModelEvent[] {
    if (!this.#openFile || this.#stored.has(stored.id)) return [];
    this.#stored.add(stored.id);
    return this.#made(this.#openFile(stored));
  }

  #words(text: string): readonly ModelEvent[] {
    return text === '' ? [] : [{ kind: 'text', text }];
  }

  #takeBehindText(): readonly ModelEvent[] {
    return this.#behindText.splice(0);
  }

  #raw(chunk: unknown): readonly ModelEvent[] {
    if (isObject(chunk)) this.#stopReason ??= stopReasonOf(chunk, this.#wire.signs);
    this.#ownCalls.readRaw(chunk);
    this.#sources.readRaw(chunk);
    const events = this.#chatFiles.read(chunk);
    for (const event of events) this.#note(event);
    return events;
  }

  #note({ kind }: ModelEvent): void {
    this.hasOutput = true;
    this.#last = kind === 'text' ? kind : undefined;
    if (kind === 'text') this.#isEmpty = false;
  }

  #callInput(key: string, text: string): readonly ModelEvent[] {
    if (this.#ownInputs.has(key)) return [];
    this.hasOutput = true;
    this.#last = undefined;
    return [{ kind: 'callInput', key, name: this.#names.get(key) ?? '', text }];
  }

  #call(part: Extract<StreamPart, { type: 'tool-call' }>): readonly ModelEvent[] {
    this.#last = undefined;
    const metadata = this.#metadataOf(part.providerMetadata);
    const { toolCallId: key, toolName: name, input: argumentsText } = part;
    const call: CallEvent = { kind: 'call', key, name, argumentsText, ...(metadata && { metadata }) };
    this.#hasCalls = true;
    this.hasOutput = true;
    if (this.#held.length === 0 && parseJson(argumentsText) !== undefined) return [call];
    this.#held.push(call);
    return [];
  }

  /** What follows the text of a complete reply: its last files, and its sources. */
  end(): readonly ModelEvent[] {
    const files = [...this.#takeBehindText(), ...this.#chatFiles.end()];
    return [...files, ...this.#ownCalls.takeSearches(), ...this.#words(this.#sources.end())];
  }

  #finish({ finishReason, usage }: FinishPart): readonly ModelEvent[] {
    const { unified, raw } = finishReason;
    if (ERROR_REASON.test(raw ?? '') || (unified === 'error' && raw !== undefined)) {
      const message = `${this.#context.host} interrupted the reply (${raw}).`;
      const failure = { kind: 'lost', reason: message } as const;
      throw new ModelError({ message, failure, problem: 'brokenOff' });
    }
    const isCut = unified === 'interrupted' || unified === 'error';
    if (isCut && !this.#isReceived()) throw connectionLost(this.#context);
    const isUnknown = isCut || unified === 'other';
    const known = isUnknown ? readStopReason(this.#stopReason ?? raw, isCut ? 'stop' : 'other') : unified;
    const reason = this.#hasCalls && known === 'stop' ? 'calls' : REASONS[known];
    const held = reason === 'calls' ? this.#held : [];
    return [...this.end(), ...held, { kind: 'finish', reason, usage: toUsage(usage) }];
  }

  #metadataOf(metadata: SharedV4ProviderMetadata | undefined): ProviderMetadata | undefined {
    const kept = this.#pick(metadata);
    return Object.keys(kept).length === 0 ? undefined : { [this.#wire.metadataKey]: kept };
  }

  #pick(metadata: SharedV4ProviderMetadata | undefined): Kept {
    const own = metadata?.[this.#wire.metadataKey] ?? {};
    return Object.fromEntries(KEPT.flatMap((key) => (own[key] == null ? [] : [[key, own[key]]])));
  }
}

/** One that the SDK does not know, or forgets because it cannot read a later event. */
function readStopReason<Other>(reason = '', other: Other): 'length' | 'content-filter' | Other {
  if (/length|max_tokens|incomplete/i.test(reason)) return 'length';
  return /filter|safety|refusal|prohibited|sensitive/i.test(reason) ? 'content-filter' : other;
}

const FAILED_IMAGE: MadeFile = {
  block: 'image',
  read: async () => ({ kind: 'failed', size: 0, reason: 'the provider could not finish it' }),
};

const REASONS: Readonly<
  Record<Exclude<FinishPart['finishReason']['unified'], 'interrupted' | 'error'>, FinishReason>
> = {
  stop: 'stop',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'refused',
  other: 'other',
};

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  return defined({
    input: inputTokens.total,
    output: outputTokens.total,
    cachedInput: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite,
  });
}

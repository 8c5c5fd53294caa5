import type {
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
} from '@ai-sdk/provider';
import type { FinishReason, ModelEvent, ProviderMetadata, Usage } from '../../ports/models.ts';

import { type AboutRequest, connectionLost, ModelError, toFailure } from './failure.ts';
import type { Wire } from './wire.ts';

/** What a provider wants back. Ids of items on its server are not among it: the file is the only state. */
const KEPT = ['signature', 'redactedData', 'reasoningEncryptedContent', 'thoughtSignature', 'phase'];

type StreamPart = LanguageModelV4StreamPart;
type CallEvent = Extract<ModelEvent, { kind: 'call' }>;
type FinishPart = Extract<StreamPart, { type: 'finish' }>;
type Kind = 'text' | 'reasoning';
type Kept = Readonly<Record<string, unknown>>;

/** Turns the parts of one reply's stream into events. Throws a `ModelError` for what went wrong in it. */
export class EventReader {
  #wire: Wire;
  #about: AboutRequest;
  /** What has been kept for the block that is open. */
  #kept: Kept = {};
  /** The kind of the last event, as far as text and reasoning are concerned. */
  #last: Kind | undefined;
  #isEmpty = true;
  #names = new Map<string, string>();
  #hasCalls = false;
  /** Calls that may have been cut: only a good end makes calls of them. */
  #held: CallEvent[] = [];

  /** Whether the provider has said that the reply is over. What goes wrong behind that does not matter. */
  #hasEnded: () => boolean;
  hasOutput = false;

  constructor(wire: Wire, about: AboutRequest, hasEnded: () => boolean = () => false) {
    this.#wire = wire;
    this.#about = about;
    this.#hasEnded = hasEnded;
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
        return this.#close('text', part.providerMetadata);
      case 'reasoning-end':
        return this.#close('reasoning', part.providerMetadata);
      case 'tool-input-start':
        this.#names.set(part.id, part.toolName);
        return this.#callInput(part.id, '');
      case 'tool-input-delta':
        return this.#callInput(part.id, part.delta);
      case 'tool-call':
        return part.providerExecuted ? [] : this.#call(part);
      case 'finish':
        return this.#finish(part);
      case 'error':
        if (this.#hasEnded()) return [];
        throw toFailure(part.error, this.#about);
      default:
        return [];
    }
  }

  #open(metadata: SharedV4ProviderMetadata | undefined): readonly ModelEvent[] {
    this.#kept = this.#pick(metadata);
    this.#isEmpty = true;
    return [];
  }

  /** Two parts of one reasoning, which the provider signs together. */
  #divide(): readonly ModelEvent[] {
    return this.#last === 'reasoning' ? [{ kind: 'reasoning', text: '\n\n' }] : [];
  }

  #grow(kind: Kind, text: string, metadata: SharedV4ProviderMetadata | undefined): readonly ModelEvent[] {
    this.#kept = { ...this.#kept, ...this.#pick(metadata) };
    if (text === '') return [];
    this.hasOutput = true;
    this.#last = kind;
    this.#isEmpty = false;
    return [{ kind, text }];
  }

  #close(kind: Kind, metadata: SharedV4ProviderMetadata | undefined): readonly ModelEvent[] {
    const kept: Kept = { ...this.#kept, ...this.#pick(metadata) };
    this.#kept = {};
    // A server that speaks of its reasoning without signing it may still insist on having it back.
    const isUnsigned =
      kind === 'reasoning' && this.#wire.metadataKey === 'openaiCompatible' && !this.#isEmpty;
    const whole = isUnsigned ? { ...kept, reasoningContent: true } : kept;
    const isNothing = Object.keys(whole).length === 0;
    if (isNothing || (kind === 'text' && this.#isEmpty && kept['thoughtSignature'] === undefined)) return [];
    // What is signed without a word, such as redacted thinking, has its place among the others all the same.
    const place: readonly ModelEvent[] = this.#isEmpty && this.#last !== kind ? [{ kind, text: '' }] : [];
    this.#last = undefined;
    return [...place, { kind: 'metadata', metadata: { [this.#wire.metadataKey]: whole } }];
  }

  #callInput(key: string, text: string): readonly ModelEvent[] {
    this.hasOutput = true;
    this.#last = undefined;
    return [{ kind: 'callInput', key, name: this.#names.get(key) ?? '', text }];
  }

  #call(part: Extract<StreamPart, { type: 'tool-call' }>): readonly ModelEvent[] {
    this.#last = undefined;
    const kept = this.#pick(part.providerMetadata);
    const metadata: ProviderMetadata | undefined =
      Object.keys(kept).length === 0 ? undefined : { [this.#wire.metadataKey]: kept };
    const { toolCallId: key, toolName: name, input: argumentsText } = part;
    const call: CallEvent = { kind: 'call', key, name, argumentsText, ...(metadata && { metadata }) };
    this.#hasCalls = true;
    this.hasOutput = true;
    if (this.#held.length === 0 && isWhole(argumentsText)) return [call];
    this.#held.push(call);
    return [];
  }

  #finish({ finishReason, usage }: FinishPart): readonly ModelEvent[] {
    const { unified, raw } = finishReason;
    if (unified === 'error' && raw !== undefined) {
      const message = `${this.#about.host} broke the reply off (${raw}).`;
      throw new ModelError({ message, trouble: 'brokenOff' });
    }
    const isCut = unified === 'interrupted' || unified === 'error';
    if (isCut && !this.#hasEnded()) throw connectionLost(this.#about.host);
    const known = isCut ? 'stop' : unified;
    const reason = this.#hasCalls && known === 'stop' ? 'calls' : REASONS[known];
    const held = reason === 'calls' ? this.#held : [];
    return [...held, { kind: 'finish', reason, usage: toUsage(usage) }];
  }

  #pick(metadata: SharedV4ProviderMetadata | undefined): Kept {
    // The compatible package knows its calls' signatures by its own name, as the others do.
    const own = metadata?.[this.#wire.metadataKey] ?? {};
    return Object.fromEntries(KEPT.flatMap((key) => (own[key] == null ? [] : [[key, own[key]]])));
  }
}

const REASONS: Readonly<
  Record<Exclude<FinishPart['finishReason']['unified'], 'interrupted' | 'error'>, FinishReason>
> = {
  stop: 'stop',
  'tool-calls': 'calls',
  length: 'length',
  'content-filter': 'refused',
  other: 'other',
};

function isWhole(json: string): boolean {
  try {
    JSON.parse(json);
    return true;
  } catch {
    return false;
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage {
  const counts = {
    input: inputTokens.total,
    output: outputTokens.total,
    cachedInput: inputTokens.cacheRead,
    cacheWrite: inputTokens.cacheWrite,
  };
  return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
}

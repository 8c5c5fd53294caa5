import { SENT_TYPES } from '../../media/imageLimits.ts';
import type { ProviderMetadata } from '../../ports/models.ts';
import type { ModelConfig, ProviderName } from '../config/modelConfig.ts';
import { SIGNS, type Signs } from './endings.ts';

/** The differences between the providers' protocols. */
export interface Wire {
  readonly signs: Signs;
  /** The key of the provider's metadata in the chat file. */
  readonly metadataKey: string;
  /** The SDK's key for it. The compatible provider would write fields under its own key into the request. */
  readonly optionsKey: string;
  /** Undefined when the configuration must have a `baseUrl`. */
  readonly defaultBaseUrl?: string;
  /** The media types that the provider accepts as files. */
  readonly files: ReadonlySet<string>;
  /** Whether a tool result may contain images; for other models the SDK converts them to text. */
  takesImagesInResults(model: string): boolean;
  /** Whether a reply in a request may have this image, which the model made; else it follows as one of the user. */
  takesOwnFile?(model: string, metadata: ProviderMetadata | undefined): boolean;
  /** The longest description of a tool that the provider accepts. Others have no limit. */
  readonly maxToolDescriptionChars?: number;
  /** Whether the SDK marks error results as errors. With `text` it does not. */
  readonly errors: 'marked' | 'text';
}

export const KEY_HEADERS: readonly string[] = ['authorization', 'x-api-key', 'api-key', 'x-goog-api-key'];

export type SdkProvider = Exclude<ProviderName, 'vscode' | 'tour'>;

export function isSdkProvider(provider: ProviderName): provider is SdkProvider {
  return Object.hasOwn(WIRES, provider);
}

export function wireOf(config: Pick<ModelConfig, 'provider'>): Wire {
  if (!isSdkProvider(config.provider)) {
    throw new Error(`The provider ${config.provider} has no HTTP endpoint.`);
  }
  return WIRES[config.provider];
}

export function baseUrlOf(config: Pick<ModelConfig, 'provider' | 'baseUrl'>): string {
  const baseUrl = config.baseUrl ?? wireOf(config).defaultBaseUrl;
  if (baseUrl === undefined) {
    throw new Error(`The provider ${config.provider} needs a baseUrl: the address before /chat/completions.`);
  }
  return baseUrl.replace(/\/+$/, '');
}

const AUDIO = ['audio/wav', 'audio/mpeg', 'audio/mp3'];
const DOCUMENTS: ReadonlySet<string> = new Set([...SENT_TYPES, 'application/pdf']);
const DOCUMENTS_AND_AUDIO: ReadonlySet<string> = new Set([...DOCUMENTS, ...AUDIO]);
/** ai.google.dev/gemini-api/docs/image-understanding: also the photos of phones, which cannot be converted here. */
const GEMINI_FILES: ReadonlySet<string> = new Set([...DOCUMENTS_AND_AUDIO, 'image/heic', 'image/heif']);

const OPENAI: Wire = {
  signs: SIGNS.responses,
  metadataKey: 'openai',
  optionsKey: 'openai',
  defaultBaseUrl: 'https://api.openai.com/v1',
  files: DOCUMENTS,
  takesImagesInResults: () => true,
  errors: 'marked',
};

/** OpenAI refuses a whole request with a longer description. */
const MAX_OPENAI_DESCRIPTION_CHARS = 1024;

const NEWER_GEMINI = /(^|\/)gemini-([3-9]|\d\d)/;

const WIRES: Readonly<Record<SdkProvider, Wire>> = {
  anthropic: {
    ...OPENAI,
    signs: SIGNS.anthropic,
    metadataKey: 'anthropic',
    optionsKey: 'anthropic',
    defaultBaseUrl: 'https://api.anthropic.com/v1',
  },
  openai: { ...OPENAI, maxToolDescriptionChars: MAX_OPENAI_DESCRIPTION_CHARS },
  'openai-chat': {
    ...OPENAI,
    signs: SIGNS.chat,
    files: DOCUMENTS_AND_AUDIO,
    takesImagesInResults: () => false,
    maxToolDescriptionChars: MAX_OPENAI_DESCRIPTION_CHARS,
  },
  'openai-compatible': {
    signs: SIGNS.chat,
    metadataKey: 'openaiCompatible',
    optionsKey: 'google',
    files: SENT_TYPES,
    takesImagesInResults: () => false,
    errors: 'text',
  },
  google: {
    signs: SIGNS.google,
    metadataKey: 'google',
    optionsKey: 'google',
    defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    files: GEMINI_FILES,
    // For older models the SDK sends one function response per text part, and none for an image alone.
    takesImagesInResults: (model) => NEWER_GEMINI.test(model),
    // Newer models refuse an image in a reply without its signature, for example one that another model made.
    takesOwnFile: (model, metadata) =>
      !NEWER_GEMINI.test(model) || metadata?.['google']?.['thoughtSignature'] !== undefined,
    errors: 'marked',
  },
};

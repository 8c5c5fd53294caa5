import type { ModelConfig, ProviderName } from '../config/models.ts';

/** What sets one provider's way of speaking apart from the others'. */
export interface Wire {
  /** Under which our file keeps what the provider wants back. */
  readonly metadataKey: string;
  /** Where the package looks for it. The compatible one would write its own key's fields into the request. */
  readonly optionsKey: string;
  /** Undefined when the settings have to say it. */
  readonly defaultBaseUrl?: string;
  readonly files: ReadonlySet<string>;
  /** Whether an image may stand in a tool's result; elsewhere the package makes text of it. */
  takesImagesInResults(model: string): boolean;
  /** What the package makes of a result that is an error; `text` when it would not say that it is one. */
  readonly errors: 'marked' | 'text';
}

export type SdkProvider = Exclude<ProviderName, 'vscode' | 'tour'>;

export function isSdkProvider(provider: ProviderName): provider is SdkProvider {
  return Object.hasOwn(WIRES, provider);
}

export function wireOf(config: Pick<ModelConfig, 'provider'>): Wire {
  if (!isSdkProvider(config.provider)) {
    throw new Error(`The provider ${config.provider} is not reached over HTTP.`);
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

export const IMAGES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
const AUDIO = ['audio/wav', 'audio/mpeg', 'audio/mp3'];
const PDF = 'application/pdf';

const WIRES: Readonly<Record<SdkProvider, Wire>> = {
  anthropic: {
    metadataKey: 'anthropic',
    optionsKey: 'anthropic',
    defaultBaseUrl: 'https://api.anthropic.com/v1',
    files: new Set([...IMAGES, PDF]),
    takesImagesInResults: () => true,
    errors: 'marked',
  },
  openai: {
    metadataKey: 'openai',
    optionsKey: 'openai',
    defaultBaseUrl: 'https://api.openai.com/v1',
    files: new Set([...IMAGES, PDF]),
    takesImagesInResults: () => true,
    errors: 'marked',
  },
  'openai-chat': {
    metadataKey: 'openai',
    optionsKey: 'openai',
    defaultBaseUrl: 'https://api.openai.com/v1',
    files: new Set([...IMAGES, PDF, ...AUDIO]),
    takesImagesInResults: () => false,
    errors: 'marked',
  },
  'openai-compatible': {
    metadataKey: 'openaiCompatible',
    optionsKey: 'google',
    files: new Set(IMAGES),
    takesImagesInResults: () => false,
    errors: 'text',
  },
  google: {
    metadataKey: 'google',
    optionsKey: 'google',
    defaultBaseUrl: 'https://generativelanguage.googleapis.com/v1beta',
    files: new Set([...IMAGES, PDF, ...AUDIO]),
    // Older ones get one function response for each text part, and none at all for an image alone.
    takesImagesInResults: (model) => /(^|\/)gemini-([3-9]|\d\d)/.test(model),
    errors: 'marked',
  },
};

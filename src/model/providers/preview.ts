import type { LanguageModelV4, LanguageModelV4CallOptions } from '@ai-sdk/provider';
import { isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import { KEY_HEADERS } from './wire.ts';

interface PreviewOptions {
  readonly createModel: (fetch: typeof globalThis.fetch) => LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
  /** Headers that the user has configured. */
  readonly secretHeaders: readonly string[];
}

interface Captured {
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The request as text. The SDK creates it, and `fetch` throws instead of sending it. */
export async function previewRequest({ createModel, call, secretHeaders }: PreviewOptions): Promise<string> {
  let captured: Captured | undefined;
  const model = createModel(async (input, init) => {
    const body: unknown = JSON.parse(String(init?.body ?? 'null'));
    captured = { url: String(input), headers: new Headers(init?.headers), body };
    throw new Error('Nothing is sent for a preview.');
  });
  try {
    await model.doStream(call);
  } catch (error) {
    if (captured === undefined) throw error;
  }
  return captured === undefined ? '' : describeRequest(captured, secretHeaders);
}

function describeRequest({ url, headers, body }: Captured, secretHeaders: readonly string[]): string {
  const secret = new Set([...KEY_HEADERS, ...secretHeaders.map((name) => name.toLowerCase())]);
  const lines = [...headers].map(([name, value]) => `${name}: ${secret.has(name) ? '«left out»' : value}`);
  const address = url.replace(/([?&]key=)[^&]*/g, '$1«left out»');
  return [`POST ${address}`, ...lines, '', JSON.stringify(elide(body), null, 2), ''].join('\n');
}

/** Shorter values are shown: they may be plain text. */
const MIN_OPAQUE_CHARS = 100;
const OPAQUE = new Set(['signature', 'encrypted_content', 'thoughtSignature', 'thought_signature']);

function elide(value: unknown, key = '', owner: Readonly<Record<string, unknown>> = {}): unknown {
  if (typeof value === 'string') return elideText(value, key, owner);
  if (Array.isArray(value)) return value.map((each) => elide(each));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, elide(each, name, value)]));
}

function elideText(text: string, key: string, owner: Readonly<Record<string, unknown>>): string {
  const url = /^data:([^;,]{1,100});base64,/.exec(text);
  if (url !== null) return `${url[0]}${describe(text.slice(url[0].length), url[1] ?? '')}`;
  if (key === 'data') return describe(text, typeOf(owner));
  if (OPAQUE.has(key) && text.length > MIN_OPAQUE_CHARS) return describe(text, key);
  return text;
}

/** The type beside the bytes, whose field name depends on the provider. */
function typeOf(owner: Readonly<Record<string, unknown>>): string {
  const type = owner['media_type'] ?? owner['mimeType'] ?? owner['format'] ?? owner['type'];
  return typeof type === 'string' ? type : 'data';
}

function describe(base64: string, what: string): string {
  const padding = /={0,2}$/.exec(base64)?.[0].length ?? 0;
  return `«${describeSize(Math.floor((base64.length * 3) / 4) - padding)} of ${what}»`;
}

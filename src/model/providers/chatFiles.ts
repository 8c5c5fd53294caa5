import { isObject } from '../../base/json.ts';
import type { ModelEvent } from '../../ports/models.ts';
import { fileOfAudio, fileOfData } from './madeFiles.ts';

/**
 * Finds the images and the audio in the chunks of chat models, which the SDK drops: `delta.images` of OpenRouter, and
 * `delta.audio` of OpenAI.
 */
export class ChatFiles {
  /** Of the chunk that was read last: the text of the same chunk comes before them. */
  #images: ModelEvent[] = [];
  readonly #audio: string[] = [];

  /** The events of a chunk: the words of its audio, after the images of the chunk before it. */
  read(chunk: unknown): readonly ModelEvent[] {
    const events = this.#takeImages();
    const [choice] = listIn(chunk, 'choices');
    const { delta: streamed, message } = isObject(choice) ? choice : {};
    // The SDK reads the words of a whole message.
    const delta = streamed ?? withoutWords(message);
    for (const image of listIn(delta, 'images')) {
      const address = isObject(image) ? image['image_url'] : undefined;
      const url = isObject(address) ? address['url'] : undefined;
      if (typeof url === 'string') this.#images.push({ kind: 'file', file: fileOfImage(url) });
    }
    const audio = isObject(delta) ? delta['audio'] : undefined;
    const { data, transcript } = isObject(audio) ? audio : {};
    if (typeof data === 'string' && data !== '') this.#audio.push(data);
    if (typeof transcript !== 'string' || transcript === '') return events;
    return [...events, { kind: 'text', text: transcript }];
  }

  /** The files that are complete now that the reply is. */
  end(): readonly ModelEvent[] {
    const audio = this.#audio.splice(0);
    const sound: readonly ModelEvent[] = audio.length > 0 ? [{ kind: 'file', file: fileOfAudio(audio) }] : [];
    return [...this.#takeImages(), ...sound];
  }

  #takeImages(): readonly ModelEvent[] {
    return this.#images.splice(0);
  }
}

function withoutWords(message: unknown): unknown {
  if (!isObject(message)) return undefined;
  const { audio, images } = message;
  return { images, audio: isObject(audio) ? { data: audio['data'] } : undefined };
}

function fileOfImage(url: string) {
  return { ...fileOfData(url), block: 'image' as const };
}

function listIn(value: unknown, key: string): readonly unknown[] {
  const list = isObject(value) ? value[key] : undefined;
  return Array.isArray(list) ? list : [];
}

import type { MadeFileEvent, ModelEvent, ProviderMetadata } from '../../ports/models.ts';
import { type NamedCall, parseArguments, renderCall, renderCallName } from '../format/callInfo.ts';
import { showInvisible } from '../format/escapeMarkers.ts';
import { fence } from '../format/fence.ts';
import { beginReasoning, checksum, ReasoningWriter, ReplyEscaper, renderOwnCall } from './escapeReply.ts';
import {
  escapeUnits,
  REASONING_FENCE,
  REASONING_FOOT,
  REASONING_HEAD,
  renderMetadata,
  renderRepairs,
} from './notes.ts';
import type { PartialReply } from './place.ts';

/**
 * OpenAI needs its hidden reasoning back only with the calls that followed from it. It is thousands of characters
 * long, so it is not written for a reply without calls.
 */
const HELD_FOR_CALLS = 'openai';

/** A file that the model made: its link, or the problem in its place. */
interface WrittenFile extends Pick<MadeFileEvent, 'isDraft' | 'metadata'> {
  readonly kind: 'writtenFile';
  readonly markdown: string;
}

export type WrittenEvent = Exclude<ModelEvent, MadeFileEvent> | WrittenFile;

/** Turns events into text to append to the document. It never ends with a line end. */
export class ReplyRenderer {
  /** Resolves a model's tool name and assigns an id to the call. */
  readonly #nameCall: (name: string) => NamedCall;
  /** `thought` is reasoning with a closed fence in an open block; `noted` is the metadata of a text. */
  #part: 'none' | 'text' | 'reasoning' | 'thought' | 'other' | 'noted' = 'none';
  #unclosed: string;
  #isEmpty: boolean;
  #escaper = new ReplyEscaper();
  #reasoning = new ReasoningWriter();
  #reasoningText = '';
  readonly #heldNotes: string[] = [];
  /** Hidden reasoning. Only its metadata is written. */
  #wordless: 'no' | 'begun' | 'noted' = 'no';
  /** Trailing white space, written when more text follows. */
  #space = '';
  readonly #partialCalls = new Map<string, { readonly name: string; text: string }>();

  /** `after` is the interrupted reply that is continued. */
  constructor(nameCall: (name: string) => NamedCall, after?: PartialReply) {
    this.#nameCall = nameCall;
    this.#isEmpty = after?.isEmpty ?? true;
    this.#unclosed = after?.unclosed ?? '';
    if (after && after.tail !== '') {
      this.#part = 'text';
      this.#escaper.push(after.tail);
      this.#escaper.flush();
    } else if (after && !after.isEmpty) this.#part = 'other';
  }

  push(event: WrittenEvent): string {
    switch (event.kind) {
      case 'text':
        return this.#pushText(event.text);
      case 'reasoning':
        return this.#pushReasoning(event.text);
      case 'metadata':
        return this.#pushMetadata(event.metadata);
      case 'callInput': {
        const partial = this.#partialCalls.get(event.key);
        this.#partialCalls.set(event.key, { name: event.name, text: (partial?.text ?? '') + event.text });
        return '';
      }
      case 'call':
        this.#partialCalls.delete(event.key);
        return this.#takeNotes() + this.#begin('other') + this.#renderCall(event);
      case 'ownCall':
        return this.#begin('other') + renderOwnCall(event);
      case 'writtenFile':
        return event.isDraft ? this.#pushDraft(event.markdown) : this.#pushFile(event);
      case 'finish':
        return '';
    }
  }

  end(): string {
    const rest = this.#endPart();
    this.#part = 'none';
    return rest;
  }

  /** Drops only an incomplete opening fence, and leaves only code open that `closeFence` closes. */
  interrupt(): { readonly addition: string; readonly closeFence?: string } {
    if (this.#partialCalls.size > 0) return { addition: this.#renderPartialCalls() };
    if (this.#part !== 'text') return { addition: this.end() };
    const addition = this.#escaper.push(this.#space) + this.#escaper.cut();
    this.#space = '';
    const closeFence = this.#escaper.closingFence();
    return { addition, ...(closeFence === undefined ? {} : { closeFence }) };
  }

  #pushText(text: string): string {
    const words = text.trimEnd();
    // Appended and not read: white space may arrive in thousands of pieces.
    if (words === '') {
      this.#space += text;
      return '';
    }
    const all = this.#space + words;
    if (this.#part === 'text') {
      this.#space = text.slice(words.length);
      return this.#escaper.push(all);
    }
    // Drop blank lines above the text, but keep the indentation of its first line.
    const blank = all.slice(0, all.search(/\S/));
    const start = Math.max(blank.lastIndexOf('\n'), blank.lastIndexOf('\r')) + 1;
    const before = this.#begin('text');
    this.#escaper = new ReplyEscaper();
    this.#space = text.slice(words.length);
    return before + this.#escaper.push(all.slice(start));
  }

  #pushReasoning(text: string): string {
    if (text === '' && this.#part !== 'reasoning') {
      this.#wordless = 'begun';
      return '';
    }
    let before = '';
    if (this.#part !== 'reasoning' || this.#hasOnlySpace) {
      before = this.#begin('reasoning') + beginReasoning();
      this.#reasoning = new ReasoningWriter();
      this.#reasoningText = '';
    }
    this.#reasoningText += text;
    return before + this.#reasoning.push(text);
  }

  #pushFile({ markdown, metadata }: WrittenFile): string {
    const note = metadata ? `\n${renderMetadata({ metadata })}` : '';
    return `${this.#begin('other')}${markdown}${note}`;
  }

  /** A draft is folded with the reasoning. Providers do not need it back, so neither do they its metadata. */
  #pushDraft(markdown: string): string {
    const isInThought = (this.#part === 'reasoning' || this.#part === 'thought') && !this.#hasOnlySpace;
    const before = !isInThought
      ? `${this.#begin('reasoning')}${REASONING_HEAD}`
      : this.#part === 'reasoning'
        ? this.#endReasoning()
        : '';
    if (!isInThought) this.#reasoningText = '';
    this.#part = 'thought';
    return `${before}\n\n${markdown}`;
  }

  /** A text has begun after the current part, but is only white space so far. */
  get #hasOnlySpace(): boolean {
    return this.#part !== 'text' && this.#space !== '';
  }

  #pushMetadata(metadata: ProviderMetadata): string {
    if (this.#wordless !== 'no')
      return this.#pushHidden(renderMetadata({ of: checksum(''), metadata }), metadata);
    const part = this.#hasOnlySpace ? 'none' : this.#part;
    if (part === 'reasoning' || part === 'thought') {
      const before = part === 'reasoning' ? this.#endReasoning() : '';
      this.#part = 'thought';
      const of = checksum(this.#reasoningText.replace(/\r\n?/g, '\n'));
      return `${before}\n${renderMetadata({ of, metadata })}`;
    }
    // More metadata of the same text, or of an empty text.
    if (part === 'text' || part === 'noted') {
      const before = part === 'text' ? this.#endText() : '';
      this.#part = 'noted';
      return `${before}\n${renderMetadata({ metadata })}`;
    }
    return this.#begin('noted') + renderMetadata({ of: '', metadata });
  }

  /** The metadata of reasoning without text. */
  #pushHidden(note: string, metadata: ProviderMetadata): string {
    if (HELD_FOR_CALLS in metadata) {
      this.#heldNotes.push(note);
      this.#wordless = 'no';
      return '';
    }
    const before = this.#wordless === 'noted' ? '\n' : this.#begin('other');
    this.#wordless = 'noted';
    return before + note;
  }

  #takeNotes(): string {
    const notes = this.#heldNotes.splice(0);
    return notes.map((note) => this.#begin('other') + note).join('');
  }

  #renderCall(event: Extract<ModelEvent, { kind: 'call' }>): string {
    const name = this.#nameCall(event.name);
    const args = parseArguments(event.argumentsText);
    const block = args.ok
      ? renderCall({ ...name, arguments: args.value }).replace(INVISIBLE, escapeUnits)
      : renderRaw(event.argumentsText, `tool_call ${renderCallName(name)}`);
    const metadata = event.metadata ? `\n${renderMetadata({ metadata: event.metadata })}` : '';
    return `${block}${metadata}${event.repairs ? `\n${renderRepairs(event.repairs)}` : ''}`;
  }

  #renderPartialCalls(): string {
    let blocks = '';
    for (const { name, text } of this.#partialCalls.values()) {
      blocks += this.#begin('other') + renderRaw(text, `tool_call_partial ${name.replace(/[^\w.-]+/g, '_')}`);
    }
    this.#partialCalls.clear();
    return blocks;
  }

  /** Ends the current part and begins the next after a blank line. */
  #begin(part: 'text' | 'reasoning' | 'noted' | 'other'): string {
    const before = this.#endPart();
    const gap = this.#isEmpty ? '' : '\n\n';
    this.#part = part;
    this.#wordless = 'no';
    this.#isEmpty = false;
    return before + gap;
  }

  #endPart(): string {
    if (this.#part === 'text') return this.#endText();
    const unclosed = this.#unclosed;
    this.#unclosed = '';
    this.#space = '';
    if (this.#part === 'reasoning') return `${this.#endReasoning()}\n\n${REASONING_FOOT}`;
    return this.#part === 'thought' ? `\n\n${REASONING_FOOT}` : unclosed;
  }

  #endReasoning(): string {
    return `${this.#reasoning.flush()}\n${REASONING_FENCE}`;
  }

  /** Blank lines below the text are dropped. */
  #endText(): string {
    const rest = this.#escaper.push(/^[^\r\n]*/.exec(this.#space)?.[0] ?? '') + this.#escaper.end();
    this.#space = '';
    return rest;
  }
}

/** Text that is not JSON, in a fence that it cannot close, with lines that have a meaning in code escaped. */
function renderRaw(text: string, info: string): string {
  const lines = showInvisible(text.replace(/\r\n?/g, '\n'));
  return fence(lines.replace(/^([ \t]*)(?=<!-- filechat:|<tool_)/gm, '$1\\'), info);
}

/** In JSON, these characters occur only in strings, where they can be escaped. */
const INVISIBLE = /[\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}/gu;

import { messageOf } from '../base/errors.ts';
import { newCallId } from '../chat/edits/append.ts';
import { readToolName } from '../chat/format/callInfo.ts';
import {
  HeldReasoning,
  InlineReasoning,
  type ReadEvent,
  RepeatFilter,
  withoutPartialEnd,
} from '../chat/reply/incoming.ts';
import { type PartialReply, partialReply, withoutProblems } from '../chat/reply/place.ts';
import { ReplyRenderer, type WrittenEvent } from '../chat/reply/render.ts';
import { repairArguments } from '../mcp/callArguments/repair.ts';
import { toolOfName, UNKNOWN_SERVER } from '../model/request/modelTools.ts';
import type { ChatDocument } from '../ports/document.ts';
import type {
  MadeFile,
  MadeFileEvent,
  ModelEvent,
  ModelRequest,
  ModelTool,
  PreparedRequest,
} from '../ports/models.ts';
import type { ProblemPart } from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { renderPart } from '../result/markdown.ts';
import type { ToolCallDeps } from './permission.ts';
import type { ReplyWriter } from './replyWriter.ts';
import { type MadeFileDeps, MadeFiles, type PartialFile } from './saveMadeFiles.ts';

/** One reply on its way from the model's events to the document's text. */
export class Reply {
  readonly writer: ReplyWriter;
  readonly files: MadeFiles;
  readonly #document: ChatDocument;
  #renderer: ReplyRenderer | undefined;
  #createRenderer: (() => ReplyRenderer) | undefined;
  #repeat: RepeatFilter | undefined;
  #inline = new InlineReasoning(true);
  #reasoning = new HeldReasoning(false);
  /** The reply that this attempt continues. */
  #partial: PartialReply | undefined;
  /** What this attempt has added to the document. */
  #written = '';
  /** It is more than reasoning. */
  #hasWords = false;
  /** What earlier attempts have added to it, as long as that is nothing but text. */
  #earlierText: string | undefined = '';
  /** The model marks only the end of its reasoning. */
  #isUnopened = false;
  /** Replaces the above for the attempt that has begun. */
  #startAttempt: (() => void) | undefined;
  /** The file that is shown until its next version arrives, in this attempt or the next. */
  #partialFile: PartialFile | undefined;
  #lastId = '';
  #tools: readonly ModelTool[] = [];
  hasCalls = false;
  /** Events received from the model. */
  received = 0;
  /** Characters received, without those that a resumed reply repeats. */
  chars = 0;

  readonly #log: ToolCallDeps['log'];

  constructor(writer: ReplyWriter, deps: Pick<ToolCallDeps, 'document' | 'log'> & MadeFileDeps) {
    this.writer = writer;
    this.#log = deps.log;
    this.files = new MadeFiles(deps);
    this.#document = deps.document;
  }

  /** Begins an attempt, which continues the text that is already written. */
  begin({ request, model }: PreparedRequest): void {
    const written = partialReply(this.writer.sentText());
    // Runs on the first event: until then, text that the previous attempt holds back may still be needed.
    this.#startAttempt = () => {
      if (this.#takeBack()) this.#continue(this.#partial, request);
      else {
        if (written?.isEmpty === false && this.#written === '') this.#earlierText = undefined;
        if (this.#earlierText !== undefined) this.#earlierText += this.#written;
        this.#continue(written, request);
      }
      const isFirst = this.#partial?.isEmpty !== false;
      this.#inline = new InlineReasoning(isFirst || this.#isUnopened || this.#earlierText !== undefined);
      this.#reasoning = new HeldReasoning(this.#partial !== undefined && this.#partial.tail !== '');
      this.#tools = request.tools;
      this.files.begin(model.name, this.#partial?.files ?? []);
      this.#written = '';
      this.#hasWords = false;
      this.#startAttempt = undefined;
    };
  }

  #continue(partial: PartialReply | undefined, request: Pick<ModelRequest, 'tools'>): void {
    this.#partial = partial;
    this.#repeat = partial && new RepeatFilter(withoutProblems(partial.text), partial.blocks);
    this.#createRenderer = () => new ReplyRenderer((name) => this.#nameCall(name, request), partial);
    this.#renderer = this.#createRenderer();
  }

  /**
   * Takes back an attempt that has brought only reasoning: the model was not asked to continue it, so it thinks again.
   * Reasoning that the user has changed stays.
   */
  #takeBack(): boolean {
    const isUnchanged = this.writer.sentText().replaceAll('\r\n', '\n').includes(this.#written);
    if (this.#written === '' || this.#hasWords || !isUnchanged) return false;
    this.writer.rewrite(this.#written, '');
    return true;
  }

  async add(event: ModelEvent, signal: AbortSignal): Promise<void> {
    this.#startAttempt?.();
    if (event.kind === 'call') this.hasCalls = true;
    this.received += 1;
    await this.#addRead(this.#inline.read(event), signal);
  }

  async #addRead(events: readonly ReadEvent[], signal?: AbortSignal): Promise<void> {
    for (const event of events) {
      for (const each of this.#reasoning.read(event)) {
        if (each.kind === 'file') await this.#addFile(each, signal);
        else this.#addEvent(each);
      }
    }
  }

  /** The file is on disk before its link is in the document. */
  async #addFile(event: MadeFileEvent, signal?: AbortSignal): Promise<void> {
    const { file, isDraft, isPartial, metadata } = event;
    if (isPartial) return this.#showPartial(file, signal);
    const part = await this.files.save(file, signal);
    const markdown = part && renderPart(part);
    if (part?.kind === 'problem' && this.#repeat?.skips(markdown ?? '')) return;
    if (markdown === undefined) this.#repeat?.skipFile();
    else this.#endRepeat();
    if (part?.kind === 'problem') this.#keepPartial();
    const partial = this.#partialFile;
    if (!isDraft) this.#partialFile = undefined;
    if (markdown !== undefined) this.#push({ kind: 'writtenFile', markdown, isDraft, metadata });
    if (!isDraft) await this.#removePartial(partial);
  }

  /** Text that a continued reply repeats must be over: only then the file is below what is written. */
  async #showPartial(file: MadeFile, signal?: AbortSignal): Promise<void> {
    if (this.#repeat?.isOver === false) return;
    const partial = await this.files.savePartial(file, signal);
    if (!partial) return;
    const before = this.#partialFile;
    this.#partialFile = partial;
    this.#write(this.#renderer?.end() ?? '');
    await this.#removePartial(before);
  }

  /** Removes a file when there is no link to it any more. */
  async #removePartial(partial: PartialFile | undefined): Promise<void> {
    if (!partial) return;
    this.#write('');
    await this.writer.flush();
    if (this.writer.isLost) return;
    // If it cannot be removed, an unused file stays.
    await partial.remove().catch((error: unknown) => this.#log.warn(messageOf(error)));
  }

  /** The last version did not arrive. */
  #keepPartial(): void {
    const { part, keep } = this.#partialFile ?? {};
    if (!part) return;
    this.#partialFile = undefined;
    keep?.();
    this.#push({ kind: 'writtenFile', markdown: renderPart(part) });
  }

  #addEvent(event: Exclude<ReadEvent, MadeFileEvent>): void {
    if (event.kind === 'earlierReasoning') {
      this.#setApart(event.text);
      return;
    }
    if (event.kind === 'text' && this.#repeat) {
      this.#push({ kind: 'text', text: this.#repeat.push(event.text) });
      return;
    }
    if (event.kind === 'ownCall' && this.#repeat?.skips(event.text)) return;
    // Text that was held back comes before the event that follows it.
    if (event.kind !== 'callInput' && event.kind !== 'metadata') this.#endRepeat();
    this.#push(event);
  }

  /** The text of this attempt was reasoning, and so was that of the attempts that broke off before its end. */
  #setApart(reasoning: string): void {
    const partial = this.#partial?.isEmpty === false ? this.#partial : undefined;
    const request = { tools: this.#tools };
    const before = `${this.#isUnopened ? '' : (this.#earlierText ?? '')}${this.#written}`;
    this.#hasWords = false;
    if (partial && this.#isUnopened) {
      // It continues words, so its reasoning is dropped.
      this.#continue(partial, request);
      this.writer.rewrite(before, '');
      this.#written = '';
      return;
    }
    const said = withoutPartialEnd(partial?.text ?? '').trimEnd();
    const repeat = new RepeatFilter(said);
    const all = `${said}${repeat.push(reasoning)}${repeat.end()}`;
    this.#isUnopened = true;
    this.#continue(undefined, request);
    // Closed at once, so that what follows is right even if the user has changed the text above it.
    const after = `${this.#renderer?.push({ kind: 'reasoning', text: all }) ?? ''}${this.#renderer?.end() ?? ''}`;
    this.writer.rewrite(before, after);
    this.#earlierText = undefined;
    this.#written = after;
  }

  async end(interrupted: string | undefined): Promise<void> {
    if (interrupted === undefined) this.#startAttempt?.();
    await this.#addRead(this.#inline.end());
    this.#endRepeat(interrupted === undefined);
    if (this.#partialFile) {
      this.#keepPartial();
      this.#push({ kind: 'writtenFile', markdown: renderPart(UNFINISHED) });
    }
    if (interrupted === undefined) {
      this.writer.add(this.#renderer?.end() ?? '');
      return this.writer.end({ kind: 'whole' });
    }
    const { addition = '', closeFence } = this.#renderer?.interrupt() ?? {};
    this.writer.add(addition);
    const fence = closeFence ? { closeFence } : {};
    return this.writer.end({ kind: 'interrupted', reason: interrupted, ...fence });
  }

  #endRepeat(isWhole = true): void {
    this.#push({ kind: 'text', text: this.#repeat?.end(isWhole) ?? '' });
  }

  #push(event: WrittenEvent): void {
    if (event.kind === 'text' && event.text === '') return;
    if (event.kind === 'text' || event.kind === 'reasoning' || event.kind === 'ownCall')
      this.chars += event.text.length;
    if (event.kind === 'writtenFile') this.chars += event.markdown.length;
    this.#hasWords ||= isWords(event);
    if (event.kind !== 'text') this.#earlierText = undefined;
    const read = event.kind === 'call' ? repairCall(event, this.#tools) : event;
    this.#write(this.#renderer?.push(read) ?? '');
  }

  #write(addition: string): void {
    this.#written += addition;
    this.writer.add(addition);
    const isFirst = this.#written === '' && this.#partial?.isEmpty !== false;
    const partial = this.#partialFile && renderPart(this.#partialFile.part);
    this.writer.show(partial === undefined ? '' : `${isFirst ? '' : '\n\n'}${partial}`);
  }

  /** An unknown tool gets a name too: the call fails, and the model learns why. */
  #nameCall(name: string, { tools }: Pick<ModelRequest, 'tools'>): ToolName & { readonly id: string } {
    const known = toolOfName(tools, name);
    const { server, tool } = known ??
      readToolName(name.replace('__', '.')) ?? { server: UNKNOWN_SERVER, tool: name || 'unnamed' };
    this.#lastId = newCallId(this.#document.text(), this.#lastId);
    return { server, tool, id: this.#lastId };
  }
}

const UNFINISHED: ProblemPart = {
  kind: 'problem',
  message: 'The image above is not finished: its last version did not arrive.',
};

/** Whether there is more than reasoning. */
function isWords(event: WrittenEvent): boolean {
  if (event.kind === 'writtenFile') return event.isDraft !== true;
  return event.kind === 'call' || (event.kind === 'text' && event.text.trim() !== '');
}

type CallEvent = Extract<ModelEvent, { kind: 'call' }>;

/** Only whole calls come here. Arguments that cannot be read stay as they are, and the model learns why. */
function repairCall(call: CallEvent, tools: readonly ModelTool[]): CallEvent {
  const name = toolOfName(tools, call.name);
  const tool = name && tools.find((each) => each.tool === name);
  const repaired = tool && repairArguments(call.argumentsText, tool.ownSchema ?? tool.inputSchema);
  if (!repaired || repaired.repairs.length === 0) return call;
  return { ...call, argumentsText: JSON.stringify(repaired.value), repairs: repaired.repairs };
}

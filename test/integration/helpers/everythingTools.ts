import { answerSampling } from '../../../src/model/sampling/answerSampling.ts';
import type { ChatModel, ModelEvent, ModelRequest } from '../../../src/ports/models.ts';
import type {
  AskedBy,
  Elicitation,
  ElicitationAnswer,
  Root,
  SamplingAnswer,
  SamplingRequest,
  ServerRequests,
} from '../../../src/ports/servers.ts';

export interface Outcome {
  readonly args?: Readonly<Record<string, unknown>>;
  /** The expected text of the chat. */
  readonly shows: RegExp;
}

/** Every tool that the server lists, and the expected result of a call. */
export const TOOLS: Readonly<Record<string, Outcome>> = {
  echo: { args: { message: 'hé' }, shows: /^Echo: hé$/m },
  'get-annotated-message': {
    args: { messageType: 'success', includeImage: true },
    shows: /<!-- for the user only -->\n+Operation completed successfully[\s\S]*!\[Tool generated image 1\]/,
  },
  'get-env': { shows: /"GIVEN": "yes"/ },
  'get-resource-links': {
    args: { count: 2 },
    shows:
      /Here are 2 resource links[\s\S]*> Resource `Blob Resource 1` at `demo:\/\/resource\/dynamic\/blob\/1`[\s\S]*dynamic\/text\/2`/,
  },
  'get-resource-reference': {
    args: { resourceType: 'Text', resourceId: 3 },
    shows: /^> From `demo:\/\/resource\/dynamic\/text\/3`[\s\S]*Resource 3: This is a plaintext resource/m,
  },
  'get-roots-list': { shows: /Current MCP Roots \(1 total\)[\s\S]*1\. first\n {3}URI: file:\/\/\/first/ },
  'get-structured-content': { args: { location: 'Chicago' }, shows: /"temperature": ?36/ },
  'get-sum': { args: { a: 2, b: 3 }, shows: /The sum of 2 and 3 is 5\./ },
  'get-tiny-image': { shows: /!\[Tool generated image 1\]\(cmdassets\/tool-image-[\w-]+\.png\)/ },
  'gzip-file-as-resource': {
    args: { name: 'a.gz', data: 'data:text/plain,packed', outputType: 'resource' },
    shows: /\[Tool generated file 1: a\.gz\]\(cmdassets\/tool-file-[\w-]+\.gz\)/,
  },
  'simulate-research-query': { args: { topic: 'tides' }, shows: /^# Research Report: tides$/m },
  'toggle-simulated-logging': { shows: /Started simulated, random-leveled logging/ },
  'toggle-subscriber-updates': { shows: /Started simulated resource updated notifications/ },
  'trigger-elicitation-request': {
    shows:
      /User provided the requested information[\s\S]*- Name: Ada[\s\S]*- Favorite Integer: 42[\s\S]*"hero-1"/,
  },
  'trigger-long-running-operation': {
    args: { duration: 0.2, steps: 2 },
    shows: /Long running operation completed\. Duration: 0\.2 seconds, Steps: 2\./,
  },
  'trigger-sampling-request': {
    args: { prompt: 'How high?', maxTokens: 7 },
    shows: /LLM sampling result:[\s\S]*"model": "fake"[\s\S]*"text": "As high as it gets\."/,
  },
  'trigger-url-elicitation': {
    args: { url: 'https://example.com/pay', elicitationId: 'e1' },
    shows: /User completed the URL elicitation flow\.\nElicitation ID: e1/,
  },
};

/** A model with a constant reply. */
export class FakeModel implements ChatModel {
  readonly name = 'fake';
  readonly provider = 'test';
  readonly asked: ModelRequest[] = [];

  accepts(): boolean {
    return false;
  }

  async *stream(request: ModelRequest): AsyncGenerator<ModelEvent> {
    this.asked.push(request);
    yield { kind: 'text', text: 'As high as it gets.' };
    yield { kind: 'finish', reason: 'stop', usage: {} };
  }

  async preview(): Promise<string> {
    return '';
  }
}

/** A user who accepts everything with minimal answers. */
export class WillingUser implements ServerRequests {
  readonly model = new FakeModel();
  readonly elicited: Elicitation[] = [];
  readonly askedBy: AskedBy[] = [];
  folders: readonly Root[] = [{ uri: 'file:///first', name: 'first' }];

  async elicit(request: Elicitation, by: AskedBy): Promise<ElicitationAnswer> {
    this.elicited.push(request);
    this.askedBy.push(by);
    if (request.kind === 'url') return { action: 'accept' };
    const isResearch = JSON.stringify(request.schema).includes('interpretation');
    return { action: 'accept', content: isResearch ? { interpretation: 'snake' } : { name: 'Ada' } };
  }

  sample(request: SamplingRequest, by: AskedBy, signal: AbortSignal): Promise<SamplingAnswer> {
    this.askedBy.push(by);
    return answerSampling(request, this.model, signal);
  }

  async roots(): Promise<readonly Root[]> {
    return this.folders;
  }
}

import { estimateTokenCount } from 'tokenx';
import { describeSize } from '../base/size.ts';
import type {
  CallResult,
  ChatModel,
  ContentPart,
  ModelEvent,
  ModelMessage,
  ModelRequest,
  ModelTool,
} from '../ports/models.ts';
import { sleep } from './providers/retry.ts';
import { estimateRequest } from './request/estimate.ts';

const PAUSE_MS = 15;

/** A script instead of a model, for users who have none yet. Needs neither a key nor a network. */
export function createTourModel(pause = (signal: AbortSignal) => sleep(PAUSE_MS, signal)): ChatModel {
  return {
    name: 'tour',
    provider: 'tour',
    accepts: (mimeType) => /^(?:image\/(?:png|jpeg|gif|webp)|audio\/.+|application\/pdf)$/.test(mimeType),
    price: { input: 0, output: 0 },
    stream: (request, signal) => stream(request, signal, pause),
    preview: async (request) => JSON.stringify(request, undefined, 2),
  };
}

async function* stream(
  request: ModelRequest,
  signal: AbortSignal,
  pause: (signal: AbortSignal) => Promise<void>,
): AsyncIterable<ModelEvent> {
  const reply = planReply(request);
  for (const event of eventsOf(reply)) {
    try {
      await pause(signal);
    } catch (error) {
      if (!signal.aborted) throw error;
    }
    if (signal.aborted) return;
    yield event;
  }
  yield {
    kind: 'finish',
    reason: reply.calls.length > 0 ? 'calls' : 'stop',
    usage: { input: estimateRequest(request).total, output: countOutput(reply) },
  };
}

function* eventsOf({ reasoning, text, calls }: TourReply): Generator<ModelEvent> {
  for (const piece of pieces(reasoning)) yield { kind: 'reasoning', text: piece };
  for (const piece of pieces(text)) yield { kind: 'text', text: piece };
  for (const [number, { name, args }] of calls.entries()) {
    const key = `call${number + 1}`;
    const argumentsText = JSON.stringify(args);
    for (const piece of pieces(argumentsText)) yield { kind: 'callInput', key, name, text: piece };
    yield { kind: 'call', key, name, argumentsText };
  }
}

/** Words with their white space, so that the joined pieces are the text. */
function pieces(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

function countOutput({ reasoning, text, calls }: TourReply): number {
  return estimateTokenCount(`${reasoning}${text}${calls.map((call) => JSON.stringify(call)).join('')}`);
}

interface TourReply {
  readonly reasoning: string;
  readonly text: string;
  readonly calls: readonly TourCall[];
}

interface TourCall {
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Calls tools only directly after a user message, so that it cannot loop. */
function planReply(request: ModelRequest): TourReply {
  const last = request.messages.at(-1);
  if (last?.role === 'tool') return describeResults(last.results);
  const said = lastUserText(last);
  if (said.includes(CONTINUED)) return say('… and this is how a stopped reply continues.\n');
  const topic = TOPICS.find(({ word }) => word.test(said));
  if (topic) return topic.reply(request);
  return request.messages.some((message) => message.role === 'assistant') ? NO_ANSWER : welcome(request);
}

/** In every request that continues an interrupted reply. */
const CONTINUED = '<partial_reply>';

const WHAT_I_AM =
  'I am the tour: not an AI, but a short script that shows how Filechat works. I need no key and no network, and I understand only a few words.';
const WORDS =
  'I know these words: **help**, **model**, **tools**, **image**, **audio**, **stop**. Write one below `# %% user` and run again.';
const PICK_A_MODEL =
  'To talk to a real model, run the command **Filechat: Select Model**. It lists the models of VS Code, local models, and providers such as Anthropic, OpenAI and Google.';
const CALL_A_TOOL =
  'To call a tool yourself, run **Filechat: Call Tool**; the call and its result are written into this file.';

interface Topic {
  readonly word: RegExp;
  readonly reply: (request: ModelRequest) => TourReply;
}

const TOPICS: readonly Topic[] = [
  { word: /\bhelp\b|^\s*\?\s*$/i, reply: () => say(`${WHAT_I_AM}\n\n${WORDS}\n`) },
  { word: /\bmodels?\b/i, reply: () => say(`${PICK_A_MODEL}\n`) },
  { word: /\btools?\b/i, reply: (request) => say(`${listTools(request.tools)}\n\n${CALL_A_TOOL}\n`) },
  { word: /\bpictures?\b|\bimages?\b|\bcharts?\b/i, reply: (request) => call(request, IMAGE) },
  { word: /\bsounds?\b|\baudio\b|\bmusic\b/i, reply: (request) => call(request, AUDIO) },
  { word: /\bstop\b/i, reply: () => say(COUNTING) },
];

const COUNTING = `While I write this, you can run **Filechat: Stop**. The reply so far is kept, and **Filechat: Resume** continues it. I am counting to three hundred, so that you have time to try it:\n\n${Array.from({ length: 300 }, (_, number) => `${number + 1}`).join(' … ')}.\n`;

const NO_ANSWER = say(`I am only the tour, so I cannot answer that. ${PICK_A_MODEL}\n\n${WORDS}\n`);

const CHART_ARGUMENTS = { title: 'Words in this chat', values: [3, 5, 8, 13], labels: ['A', 'B', 'C', 'D'] };
const IMAGE = { tool: 'chart', args: CHART_ARGUMENTS, intro: 'I’ll ask the sample server to draw a chart.' };
const AUDIO = {
  tool: 'tone',
  args: { seconds: 1, note: 'C4' },
  intro: 'I’ll ask the sample server for a chord.',
};

function welcome(request: ModelRequest): TourReply {
  const intro = `${WHAT_I_AM}\n\nThis chat is a file. It contains your messages, my replies and the results of tools. `;
  const sample = sampleServer(request.tools);
  if (!sample) {
    return say(
      `${intro}The sample server is not available, so I cannot show you a tool. ${PICK_A_MODEL}\n\n${CALL_A_TOOL}\n\n${WORDS}\n`,
    );
  }
  return {
    reasoning: `The chat has just begun, and the server ${sample.server} is available. Two of its tools show what results look like: one draws a chart, the other returns data.`,
    text: `${intro}As an example, I’ll call two tools of the server \`${sample.server}\`: one draws a chart, the other returns data. They run only with your permission.\n`,
    calls: [
      { name: sample.nameOf('chart'), args: CHART_ARGUMENTS },
      { name: sample.nameOf('weather'), args: { city: 'Paris' } },
    ],
  };
}

function call(
  { tools }: ModelRequest,
  { tool, args, intro }: { readonly tool: string; readonly args: TourCall['args']; readonly intro: string },
): TourReply {
  const sample = sampleServer(tools);
  if (!sample) return say(`That requires the sample server, which is not available. ${CALL_A_TOOL}\n`);
  return {
    reasoning: `The user asks for something that the tool ${tool} creates.`,
    text: `${intro}\n`,
    calls: [{ name: sample.nameOf(tool), args }],
  };
}

function describeResults(results: readonly CallResult[]): TourReply {
  const lines = results.map((result) => `- \`${result.name}\`: ${describeResult(result)}`);
  const files = results.some(({ parts }) => parts.some(isFile));
  const where = files
    ? 'The files are in the folder `cmdassets/` beside this chat; the links above point to them. '
    : '';
  return {
    reasoning: 'The results have arrived, so I describe them.',
    text: `These are the results:\n\n${lines.join('\n')}\n\n${where}A real model gets the text, the images, PDFs and audio that it accepts, and one line for every other file.\n\nNext steps:\n\n1. ${PICK_A_MODEL}\n2. ${CALL_A_TOOL}\n3. ${WORDS}\n`,
    calls: [],
  };
}

const MAX_QUOTED_CHARS = 80;

function describeResult({ isError, parts }: CallResult): string {
  if (isError) return `an error: ${quote(parts)}`;
  const files = parts
    .filter((part) => part.kind === 'file')
    .map((file) => `${file.mimeType} of ${describeSize(file.size)}`);
  const quoted = quote(parts);
  return [...files, ...(quoted === '' ? [] : [`text, ${quoted}`])].join('; ');
}

/** The text of a result as inline code. */
function quote(parts: readonly ContentPart[]): string {
  const text = parts
    .flatMap((part) => (part.kind === 'text' && !/^\[asset:.*\]$/.test(part.text) ? [part.text] : []))
    .join(' ')
    .replace(/[\s`]+/g, ' ')
    .trim();
  const cut = Array.from(text).slice(0, MAX_QUOTED_CHARS).join('');
  return cut === '' ? '' : `\`${cut}${cut.length < text.length ? '…' : ''}\``;
}

function isFile(part: ContentPart): boolean {
  return part.kind === 'file' || /\basset:/.test(part.text);
}

function listTools(tools: readonly ModelTool[]): string {
  if (tools.length === 0) return 'This chat has no tools yet. To add some, run **Filechat: Add Server**.';
  const names = tools
    .slice(0, 20)
    .map(({ tool }) => `\`${`${tool.server}.${tool.tool}`.replaceAll('`', '')}\``);
  const more = tools.length > names.length ? ` and ${tools.length - names.length} more` : '';
  return `This chat has ${tools.length} ${tools.length === 1 ? 'tool' : 'tools'}: ${names.join(', ')}${more}.`;
}

/** Recognizes the sample server: hardly any other has all of these. */
const SAMPLE_TOOLS = ['tour', 'chart', 'tone', 'weather'];

function sampleServer(tools: readonly ModelTool[]) {
  const servers = new Set(tools.map(({ tool }) => tool.server));
  const find = (server: string, name: string) =>
    tools.find(({ tool }) => tool.server === server && tool.tool === name);
  const server = [...servers].find((each) => SAMPLE_TOOLS.every((name) => find(each, name)));
  if (server === undefined) return undefined;
  return { server, nameOf: (name: string) => find(server, name)?.name ?? name };
}

/** The last text that the user wrote, without attachments and calls. */
function lastUserText(message: ModelMessage | undefined): string {
  if (message?.role !== 'user') return '';
  const texts = message.parts.flatMap((part) => (part.kind === 'text' ? [part.text] : []));
  return texts.findLast((text) => !/^(?:File |\[|I called the tool )/.test(text)) ?? '';
}

function say(text: string): TourReply {
  return { reasoning: '', text, calls: [] };
}

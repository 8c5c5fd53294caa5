import type { ModelTool, SamplingRequest } from '../../ports.ts';
import { acceptableSchema, stripTags } from '../request/toolSchema.ts';

const MAX_NAME_CHARS = 64;
const MAX_DESCRIPTION_CHARS = 1024;
const FIT_NAME = /^[A-Za-z_][A-Za-z0-9_-]{0,63}$/;

/** The tools of a server's request under names that every provider takes, and the way back. */
export class SamplingTools {
  readonly forModel: readonly ModelTool[];
  /** What the request cannot say in another way. */
  readonly instruction: string;
  readonly mayBeCalled: boolean;
  readonly #modelNames = new Map<string, string>();
  readonly #ids: Set<string>;

  constructor({ tools = [], toolChoice, messages }: SamplingRequest) {
    const calls = messages.flatMap(({ parts }) => parts.filter((part) => part.kind === 'call'));
    this.mayBeCalled = tools.length > 0 && toolChoice !== 'none';
    this.instruction = tools.length === 0 ? '' : (INSTRUCTIONS[toolChoice ?? 'auto'] ?? '');
    this.#ids = new Set(calls.map(({ id }) => id));
    for (const { name } of [...tools, ...calls]) this.#nameTool(name);
    // Some providers take no calls of earlier turns without the tools that were called.
    const isNeeded = this.mayBeCalled || calls.length > 0;
    this.forModel = (isNeeded ? tools : []).map((tool) => ({
      name: this.modelName(tool.name),
      tool: { server: '', tool: tool.name },
      description: stripTags(tool.description).slice(0, MAX_DESCRIPTION_CHARS).toWellFormed(),
      inputSchema: acceptableSchema(tool.inputSchema),
    }));
  }

  modelName(name: string): string {
    return this.#modelNames.get(name) ?? name;
  }

  /** A name that the model made up is the server's to refuse. */
  serverName(name: string): string {
    for (const [own, shown] of this.#modelNames) if (shown === name) return own;
    return name;
  }

  nextCallId(): string {
    let number = this.#ids.size + 1;
    while (this.#ids.has(`call_${number}`)) number += 1;
    this.#ids.add(`call_${number}`);
    return `call_${number}`;
  }

  #nameTool(name: string): void {
    if (this.#modelNames.has(name)) return;
    const taken = new Set(this.#modelNames.values());
    const clean = `_${name.replace(/[^A-Za-z0-9_-]/g, '_')}`;
    let fit = name;
    for (let number = 1; !FIT_NAME.test(fit) || taken.has(fit); number += 1) {
      fit = `${clean.slice(0, MAX_NAME_CHARS - 5)}_${number}`;
    }
    this.#modelNames.set(name, fit);
  }
}

const INSTRUCTIONS: Readonly<Record<string, string>> = {
  required: 'Answer with a call of one of the tools.',
  none: 'Answer without calling a tool.',
};

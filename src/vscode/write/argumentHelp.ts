import type { ArgumentHelp } from '../../mcp/callArguments/help.ts';
import type { ToolInfo, ToolName } from '../../ports.ts';
import type { KnownServers } from '../servers/known.ts';

/** Nothing is known of a tool whose server has not run yet, except that it takes an object. */
const UNKNOWN = { type: 'object' };

/** Who helps with the arguments of which tool. What reads JSON is loaded at the first call that is looked at. */
export class ToolHelp {
  readonly #known: KnownServers;
  /** By the schema itself: a server that describes its tool anew gives another one. */
  readonly #help = new WeakMap<object, Promise<ArgumentHelp | undefined>>();

  constructor(known: KnownServers) {
    this.#known = known;
  }

  tool(name: ToolName): Promise<ToolInfo | undefined> {
    return this.#known.tool(name);
  }

  async of(name: ToolName): Promise<ArgumentHelp | undefined> {
    const schema = (await this.#known.tool(name))?.inputSchema;
    return this.#for(typeof schema === 'object' && schema !== null ? schema : UNKNOWN);
  }

  #for(schema: object): Promise<ArgumentHelp | undefined> {
    const help = this.#help.get(schema) ?? load(schema);
    this.#help.set(schema, help);
    return help;
  }
}

async function load(schema: object): Promise<ArgumentHelp | undefined> {
  const { ArgumentHelp } = await import('../../mcp/callArguments/help.ts');
  return ArgumentHelp.of(schema);
}

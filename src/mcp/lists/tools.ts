import { field } from '../../base/json.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { readToolApp } from '../apps/app.ts';
import { scanParamHeaders } from '../pool/paramHeaders.ts';
import { schemaProblem } from '../schema/limits.ts';
import { pickIcon } from './icons.ts';
import { type AskPage, type Collected, collectPages, readName, readTexts } from './pages.ts';

export interface ToolListOptions {
  /** Arguments are also sent as headers: a tool that declares them incorrectly must not be called. */
  readonly paramHeaders?: boolean;
}

export function collectTools(
  server: string,
  askPage: AskPage,
  options: ToolListOptions = {},
): Promise<Collected<ToolInfo>> {
  return collectPages(
    {
      field: 'tools',
      one: 'tool',
      read: (definition) => readTool(server, definition, options),
      key: ({ tool }) => tool,
    },
    askPage,
  );
}

/** The tool, or the problem with its definition. */
function readTool(server: string, definition: unknown, options: ToolListOptions): ToolInfo | string {
  const named = readName(definition);
  if (typeof named === 'string') return named;
  const inputSchema = field(definition, 'inputSchema') ?? { type: 'object' };
  const outputSchema = field(definition, 'outputSchema') ?? undefined;
  const [input, output] = [inputProblem(inputSchema, options), schemaProblem(outputSchema)];
  const unusable = `${JSON.stringify(named.name)} cannot be used, because its`;
  if (input !== undefined) return `${unusable} input schema ${input}`;
  if (output !== undefined) return `${unusable} output schema ${output}`;
  const icon = pickIcon(field(definition, 'icons'));
  return {
    server,
    tool: named.name,
    ...readTexts(definition),
    inputSchema,
    ...(outputSchema === undefined ? {} : { outputSchema }),
    ...readHints(definition),
    ...readToolApp(definition),
    ...(icon === undefined ? {} : { icon }),
  };
}

function inputProblem(schema: unknown, { paramHeaders = false }: ToolListOptions): string | undefined {
  if (typeof schema !== 'object' || Array.isArray(schema)) return 'is not an object';
  const problem = schemaProblem(schema);
  if (problem !== undefined) return problem;
  const scan = paramHeaders ? scanParamHeaders(schema) : undefined;
  return scan?.ok === false ? scan.reason : undefined;
}

function readHints(definition: unknown): Pick<ToolInfo, 'readOnly' | 'destructive' | 'task'> {
  const annotations = field(definition, 'annotations');
  const readOnly = field(annotations, 'readOnlyHint');
  const destructive = field(annotations, 'destructiveHint');
  const task = field(field(definition, 'execution'), 'taskSupport');
  return {
    ...(typeof readOnly === 'boolean' ? { readOnly } : {}),
    ...(typeof destructive === 'boolean' ? { destructive } : {}),
    ...(task === 'required' || task === 'optional' ? { task } : {}),
  };
}

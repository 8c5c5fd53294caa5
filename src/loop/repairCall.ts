import { repairArguments } from '../mcp/callArguments/repair.ts';
import { toolOfName } from '../model/request/tools.ts';
import type { ModelEvent, ModelTool } from '../ports/models.ts';

type CallEvent = Extract<ModelEvent, { kind: 'call' }>;

/** Only whole calls come here. Arguments that cannot be read stay as they are, and the model learns why. */
export function repairCall(call: CallEvent, tools: readonly ModelTool[]): CallEvent {
  const name = toolOfName(tools, call.name);
  const tool = name && tools.find((each) => each.tool === name);
  const repaired = tool && repairArguments(call.argumentsText, tool.ownSchema ?? tool.inputSchema);
  if (!repaired || repaired.repairs.length === 0) return call;
  return { ...call, argumentsText: JSON.stringify(repaired.value), repairs: repaired.repairs };
}

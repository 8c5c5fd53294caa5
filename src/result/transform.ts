import { messageOf } from '../base/errors.ts';
import type { ToolName } from '../ports/tools.ts';

/** The user's own function, which sees a result before anything else does. */
export type Transform = (result: unknown, tool: ToolName) => Promise<unknown> | unknown;

export interface Transformed {
  readonly result: unknown;
  /** Why the original had to be used. */
  readonly problem?: string;
}

/** Long enough for any honest work on a result that is here already. */
export const TRANSFORM_TIMEOUT_MS = 10_000;

/** The first layer: what the transformer makes of a result; the original when it gives nothing back or fails. */
export async function applyTransform(
  result: unknown,
  transform: Transform | undefined,
  tool: ToolName,
  timeoutMs = TRANSFORM_TIMEOUT_MS,
): Promise<Transformed> {
  if (!transform) return { result };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${timeoutMs / 1000} seconds`)), timeoutMs);
  });
  try {
    // In a promise of its own, so that a function that throws at once is caught like one that throws later.
    const changed = await Promise.race([Promise.resolve().then(() => transform(result, tool)), tooLong]);
    return { result: changed ?? result };
  } catch (error) {
    const reason = messageOf(error);
    const problem = `Your transformer failed on ${tool.server}.${tool.tool}: ${reason}. The result is shown as the server sent it.`;
    return { result, problem };
  } finally {
    clearTimeout(timer);
  }
}

import type { RunOutcome } from '../ports.ts';
import { CANCELLED } from './outcomes.ts';
import type { SurfaceParts } from './surface.ts';

/** What can be done with one turn: ask again, or change a call before it is made. */
export class TurnCommands {
  constructor(_parts: Pick<SurfaceParts, 'run' | 'runs'>) {}

  async regenerate(_argument: unknown): Promise<RunOutcome> {
    return CANCELLED;
  }

  async editArguments(_argument: unknown): Promise<void> {}
}

import type { ToolInfo, ToolList } from '../../ports/tools.ts';
import type { Connection } from '../connection/connection.ts';
import type { RemoteAuthorization } from '../oauth/authorization.ts';

/** A server in use, with one configuration. */
export interface Slot {
  readonly name: string;
  readonly fingerprint: string;
  readonly isProcess: boolean;
  authorization: RemoteAuthorization | undefined;
  /** Shared by all requests while the server starts. */
  readonly opened: Promise<Connection>;
  /** The current attempt while opening. */
  connection: Connection | undefined;
  /** Aborted with the reason when the slot is retired. */
  readonly retired: AbortController;
  /** Undefined until an attempt has succeeded. */
  openedAtMs: number | undefined;
  /** The last listed definitions, by name. */
  tools: ReadonlyMap<string, ToolInfo>;
  /** The last complete list, and the version of the tools that it has. */
  listed: { readonly list: ToolList; readonly version: string } | undefined;
}

export type OpeningSlot = Omit<Slot, 'opened'>;

export type RunningServer = Pick<Slot, 'authorization' | 'tools' | 'listed'> & {
  readonly connection: Connection;
};

/** A server that is still opening may try another protocol. */
export function isDead(slot: OpeningSlot): boolean {
  return slot.openedAtMs !== undefined && slot.connection?.state.kind === 'closed';
}

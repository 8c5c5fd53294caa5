import { stopwatch } from '../../base/async.ts';
import type { Disposable } from '../../ports/document.ts';
import type { ElicitationAnswer, ServerHost } from '../../ports/servers.ts';
import type { Audit, AuditEntry } from '../../ports/tools.ts';

/** Adds to the audit entry while the work runs: who allowed it, or its outcome. */
export type Note = (more: Partial<AuditEntry>) => void;

export const FORM_OUTCOMES: Readonly<Record<ElicitationAnswer['action'], Partial<AuditEntry>>> = {
  accept: { consent: 'asked' },
  decline: { outcome: 'denied' },
  cancel: { outcome: 'cancelled' },
};

/** The user declined the request of a server, which may read the message. */
export class DeclinedError extends Error {
  readonly outcome: 'denied' | 'cancelled';

  constructor(outcome: 'denied' | 'cancelled') {
    super('The user declined.');
    this.outcome = outcome;
  }
}

/** Does the work and records it. `signal` is that of the requester: work that fails after an abort was cancelled. */
export async function audited<T>(
  audit: Audit,
  entry: Omit<AuditEntry, 'outcome' | 'consent' | 'ms'>,
  work: (note: Note) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const elapsedMs = stopwatch();
  let noted: Partial<AuditEntry> = {};
  const record = (outcome: AuditEntry['outcome']) =>
    audit.record({ ...entry, ...noted, outcome, ms: elapsedMs() });
  try {
    const result = await work((more) => {
      noted = { ...noted, ...more };
    });
    record(noted.outcome ?? 'ok');
    return result;
  } catch (error) {
    record(error instanceof DeclinedError ? error.outcome : signal?.aborted ? 'cancelled' : 'error');
    throw error;
  }
}

export function auditStarts(host: Pick<ServerHost, 'onDidChange' | 'states'>, audit: Audit): Disposable {
  const known = new Map<string, string>();
  const look = async (server: string) => {
    const kind = (await host.states()).get(server)?.kind ?? 'idle';
    if (known.get(server) === kind) return;
    known.set(server, kind);
    if (kind === 'ready' || kind === 'failed') {
      audit.record({ kind: 'start', server, outcome: kind === 'ready' ? 'ok' : 'error' });
    }
  };
  return host.onDidChange((server, what) => {
    if (what === 'state') void look(server);
  });
}

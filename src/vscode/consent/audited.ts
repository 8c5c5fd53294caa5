import type { Disposable } from '../../ports/document.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { Audit, AuditEntry, ConsentSource } from '../../ports/tools.ts';

/** Somebody wants it done. Without that, the log says of nobody that they agreed. */
export type Agreed = (by: ConsentSource) => void;

/** The person at the editor does not want what a server asked for. The server may read the message. */
export class DeclinedError extends Error {
  readonly outcome: 'denied' | 'cancelled';

  constructor(outcome: 'denied' | 'cancelled') {
    super('The user declined.');
    this.outcome = outcome;
  }
}

/** Does the work, and leaves one line about it in the audit log. `signal` is that of whoever wanted it done. */
export async function audited<T>(
  audit: Audit,
  entry: Omit<AuditEntry, 'outcome' | 'consent' | 'ms'>,
  work: (agreed: Agreed) => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const startedMs = Date.now();
  let consent: ConsentSource | undefined;
  const record = (outcome: AuditEntry['outcome']) =>
    audit.record({ ...entry, ...(consent && { consent }), outcome, ms: Date.now() - startedMs });
  try {
    const answer = await work((by) => {
      consent = by;
    });
    const action = actionOf(answer);
    if (action === 'accept') consent = 'asked';
    record(OUTCOMES.get(action) ?? 'ok');
    return answer;
  } catch (error) {
    record(error instanceof DeclinedError ? error.outcome : signal?.aborted ? 'cancelled' : 'error');
    throw error;
  }
}

/** How the answers of people to forms are called in the log. */
const OUTCOMES: ReadonlyMap<unknown, AuditEntry['outcome']> = new Map([
  ['decline', 'denied'],
  ['cancel', 'cancelled'],
]);

function actionOf(answer: unknown): unknown {
  return typeof answer === 'object' && answer !== null && 'action' in answer ? answer.action : undefined;
}

/** A line for each server that was started, or that could not be. */
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
